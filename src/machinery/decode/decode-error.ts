/** An invalid body, with the message of Go's JSON decoder. The endpoint prefixes the kind and answers with 400. */
export class DecodeError extends Error {
  /** True if the text is not JSON; false if a value has the wrong type or form. */
  readonly syntax: boolean
  /** The message of Go's converter from maps to structs, if it differs. */
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
