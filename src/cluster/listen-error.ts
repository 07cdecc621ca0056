/** Explains errors of listening, with the remedy. */
import { ExplainedError, errorCode } from '../lib/explained-error.ts'

/** Returns an ExplainedError, or the same error if it is another kind. `flag` sets the port. */
export function listenError(error: unknown, address: string, port: number, flag: string): unknown {
  const elsewhere = `${address} is not an address of this machine: give one with --bind-address, or leave it out`
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${address} is in use by another process: choose another with ${flag}`,
    EACCES: `port ${port} on ${address} needs more privileges: choose a port above 1023 with ${flag}`,
    EADDRNOTAVAIL: elsewhere,
    ENOTFOUND: elsewhere,
  }
  const message = messages[errorCode(error) ?? '']
  return message ? new ExplainedError(message, { cause: error }) : error
}
