/** Errors of a Docker engine. */

/** An answer that is not a success. */
export class EngineError extends Error {
  /** The status of HTTP. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** True if the container, image or command does not exist. */
export const isMissing = (error: unknown): boolean => error instanceof EngineError && error.status === 404

/** True if the state of a container forbids the request, or a name is in use. */
export const isConflict = (error: unknown): boolean => error instanceof EngineError && error.status === 409

/** The message in the body of an answer: JSON, or a text. */
export function messageIn(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown }
    if (typeof message === 'string') return message
  } catch {
    // A text, such as that of a proxy.
  }
  return body.trim()
}
