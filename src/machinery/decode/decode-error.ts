/** What is wrong with a body, in the words of Go's JSON decoder; the endpoint puts the kind before it and answers 400. */
export class DecodeError extends Error {
  /** The text is no JSON at all; otherwise a value has the wrong type or form. */
  readonly syntax: boolean

  constructor(message: string, syntax = false) {
    super(message)
    this.name = 'DecodeError'
    this.syntax = syntax
  }
}
