"""The engine: ranks sparse instances against very many classes, and learns from each answer."""
