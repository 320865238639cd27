import numpy as np

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.klr.decoding import Decoder
from tests.training.klr.problems import CLASSES, PARENTS, parents


def test_the_expected_taxo_loss_is_the_least():
    taxonomy = Taxonomy(PARENTS)
    losses = np.array([[taxonomy.distance(one, other) / 2 for other in CLASSES] for one in CLASSES])
    p = np.random.default_rng(0).dirichlet(np.full(len(CLASSES), 0.3), 200)
    chosen = Decoder.of(CLASSES, parents).least_taxo_loss(p)
    expected = p @ losses
    assert np.allclose(expected[np.arange(200), chosen], expected.min(1))
    assert (chosen != p.argmax(1)).any()


def test_the_parent_of_largest_mass_comes_first():
    decoder = Decoder.of(["a1", "a2", "c", "b1"], parents)
    p = np.array([[0.3, 0.25, 0.4, 0.05], [0.1, 0.2, 0.4, 0.3]])
    assert decoder.best_parent(p).tolist() == [0, 2]
