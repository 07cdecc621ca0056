/**
 * What is wrong with a body, in the words of Go's JSON decoder; the endpoint puts the kind before it and answers 400.
 */
export class DecodeError extends Error {
  /** The text is no JSON at all; otherwise a value has the wrong type or form. */
  readonly syntax: boolean
  /** The same in the words of Go's converter from maps to structs, where they differ. */
  readonly conversion: string

  constructor(
    message: string,
    { syntax = false, conversion = message }: { readonly syntax?: boolean; readonly conversion?: string } = {},
  ) {
    super(message)
    this.name = 'DecodeError'
    this.syntax = syntax
    this.conversion = conversion
  }
}
