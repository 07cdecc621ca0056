/** Addresses that cannot be had, with what to do. */
import { ExplainedError, errorCode } from '../lib/explained-error.ts'

/** Other errors stay themselves. `flag` says which port. */
export function listenError(error: unknown, address: string, port: number, flag: string): unknown {
  const elsewhere = `${address} is not an address of this machine: give one with --bind-address, or leave it out`
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${address} is in use by another process: choose another with ${flag}`,
    EACCES: `port ${port} on ${address} needs more rights than this process has: choose one above 1023 with ${flag}`,
    EADDRNOTAVAIL: elsewhere,
    ENOTFOUND: elsewhere,
  }
  const message = messages[errorCode(error) ?? '']
  return message ? new ExplainedError(message, { cause: error }) : error
}
