/** Values in Go's notation, which a few of upstream's messages use instead of JSON. */

/** `[]string{"a", "b"}`. */
export const goList = (values: readonly string[]): string =>
  `[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`
