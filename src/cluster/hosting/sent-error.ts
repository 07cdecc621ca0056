/** Errors that pass from thread to thread, which lose their class on the way. */
import { ExplainedError } from '../../lib/explained-error.ts'
import { StoreOpenError } from '../../storage/store.ts'
import type { SentError } from './messages.ts'

export function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { type: 'other', name: 'Error', message: String(error), stack: undefined }
  const { name, message, stack } = error
  const type = error instanceof ExplainedError ? 'explained' : error instanceof StoreOpenError ? 'store' : 'other'
  return { type, name, message, stack }
}

/** Returns an error of the same class, with the stack of the original one. */
export function receivedError({ type, name, message, stack }: SentError): Error {
  const error = errorOf(type, message)
  error.name = name
  if (stack !== undefined) error.stack = stack
  return error
}

function errorOf(type: SentError['type'], message: string): Error {
  switch (type) {
    case 'explained':
      return new ExplainedError(message)
    case 'store':
      return new StoreOpenError(message)
    case 'other':
      return new Error(message)
    default:
      return type satisfies never
  }
}
