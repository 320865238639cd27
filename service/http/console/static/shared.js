// A value that several parts of a page show, and that they draw again when it changes.

import { useEffect, useState } from "./html.js";

export class Shared {
  #observers = new Set();

  constructor(value) {
    this.value = value;
  }

  set(value) {
    this.value = value;
    for (const each of this.#observers) each(value);
  }

  /** Call a function with every later value; return one that ends it. */
  observe(observer) {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }
}

/** Return the value, again whenever it changes. */
export function useShared(shared) {
  const [value, setValue] = useState(shared.value);
  useEffect(() => {
    setValue(shared.value);
    return shared.observe(setValue);
  }, []);
  return value;
}
