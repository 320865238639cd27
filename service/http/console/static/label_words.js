// Labels that may be none, and the spellings of one label.

// As the command line knows them.
export const EMPTY_LABELS = ["nan", "none", "null", "n/a", "na", "<na>", "#n/a", "nat", "nil", "undefined", "-", "--", "–", "—", "?", "."];

/** Return whether a label is how programs write that there is none. */
export const isEmptyLabel = (name) => EMPTY_LABELS.includes(name.trim().toLowerCase());

/** Return what the spellings of a label have in common: not case, accents, width, blanks and the signs for them. */
export const plainLabel = (name) => name.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replaceAll("ß", "ss").replace(/[\s_-]+/g, " ").trim();
