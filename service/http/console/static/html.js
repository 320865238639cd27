// Templates and state of the pages: Preact and htm.

import { h, render } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";

export const html = htm.bind(h);
export { render };
export {
  useCallback, useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef, useState,
} from "./vendor/hooks.mjs";
