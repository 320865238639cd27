"""The initial shapes of a label tree: nested lists, the innermost of class names."""

from math import sqrt

from numpy import float32

MOST_ROUNDS = 20


def shape_of(order, counts, instances, options, random):
    """Return the shape; `order` lists classes by arrival, `instances` each one's, by feature id."""
    if options.tree == "huffman":
        return joined(order, counts, options)
    if options.tree == "random":
        order = shuffled(order, random)
    bisect = halved
    if options.tree == "kmeans":
        directions = {name: direction(instances[name]) for name in order}
        came = {name: turn for turn, name in enumerate(order)}

        def bisect(names, size):
            return by_means(names, size, directions, came, random)

    return parted(order, options, bisect)


# --- parts of equal size --------------------------------------------------------------------------


def parted(names, options, bisect):
    if len(names) <= options.max_leaves:
        return list(names)
    parts = divided(names, min(options.arity, len(names)), bisect)
    return [parted(part, options, bisect) for part in parts]


def divided(names, parts, bisect):
    """Split the names recursively into parts, half of them on either side."""
    if parts == 1:
        return [names]
    first = parts // 2
    size = -(-len(names) * first // parts)
    near, far = bisect(names, size)
    return divided(near, first, bisect) + divided(far, parts - first, bisect)


def halved(names, size):
    return names[:size], names[size:]


def shuffled(names, random):
    """Return the names shuffled by Fisher and Yates, from the last on."""
    names = list(names)
    for left in range(len(names), 1, -1):
        place = random.below(left)
        names[left - 1], names[place] = names[place], names[left - 1]
    return names


# --- balanced spherical 2-means -------------------------------------------------------------------


def direction(instances):
    """Return the sum of the instances in single precision, normalized to length 1."""
    whole = {}
    for instance in instances:
        for feature, x in instance.items():
            whole[feature] = whole[feature] + x if feature in whole else x
    return of_length_one(dict(sorted(whole.items())), float32)


def of_length_one(vector, precision):
    squares = 0.0
    for x in vector.values():
        squares += float(x) * float(x)
    if squares == 0:
        return vector
    scale = precision(1 / sqrt(squares))
    return {feature: x * scale for feature, x in vector.items()}


def mean(names, directions):
    whole = {}
    for name in names:
        for feature, x in directions[name].items():
            whole[feature] = whole.get(feature, 0.0) + float(x)
    return of_length_one(dict(sorted(whole.items())), float)


def by_means(names, size, directions, came, random):
    one = random.below(len(names))
    other = random.below(len(names) - 1)
    near, far = [names[one]], [names[other + (other >= one)]]
    for _ in range(MOST_ROUNDS):
        to_near, to_far = mean(near, directions), mean(far, directions)
        apart = {f: to_near.get(f, 0.0) - to_far.get(f, 0.0) for f in {*to_near, *to_far}}
        nearness = {}
        for name in names:
            nearness[name] = 0.0
            for feature, x in directions[name].items():
                nearness[name] += float(x) * apart.get(feature, 0.0)
        ranked = sorted(names, key=lambda name: (-nearness[name], came[name]))
        before, near, far = near, ranked[:size], ranked[size:]
        near.sort(key=came.get)
        far.sort(key=came.get)
        if near == before:
            break
    return near, far


# --- Huffman --------------------------------------------------------------------------------------


def joined(order, counts, options):
    heap = [(counts[name], turn, [name]) for turn, name in enumerate(order)]
    born = len(heap)
    while len(heap) > 1:
        heap.sort(key=lambda each: each[:2])
        least, heap = heap[: options.arity], heap[options.arity :]
        shapes = [shape for _, _, shape in least]
        names = [name for shape in shapes for name in shape]
        if len(names) <= options.max_leaves and all(isinstance(name, str) for name in names):
            shapes = names
        heap.append((sum(count for count, _, _ in least), born, shapes))
        born += 1
    return heap[0][2] if heap else []
