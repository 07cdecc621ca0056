/** Opens the ports for HTTP and HTTPS: the usual ones if this process may and they are free, else others. */
import { ExplainedError, errorCode } from '../../lib/explained-error.ts'
import type { PortServer } from './proxy/port-server.ts'

/** A port with its flag, and the ports to try without one. */
export interface WantedPort {
  readonly flag: string
  /** 0 takes any free port. Default: the first usual port that is available, or any free one. */
  readonly port?: number
  readonly usual: readonly number[]
}

const notAvailable: ReadonlySet<string> = new Set(['EACCES', 'EADDRINUSE'])

/** Starts to listen; resolves with the port. Rejects with an ExplainedError if the given port is not available. */
export async function openPort(
  server: PortServer,
  address: string,
  { flag, port, usual }: WantedPort,
  log: (line: string) => void,
): Promise<number> {
  if (port !== undefined)
    return server.listen(address, port).catch((error: unknown) => {
      throw explained(error, address, port, flag)
    })
  for (const candidate of [...usual, 0]) {
    try {
      const opened = await server.listen(address, candidate)
      if (candidate !== usual[0])
        log(`ingress: port ${usual[0]} on ${address} is not available, so ${opened} is used: set another with ${flag}`)
      return opened
    } catch (error) {
      if (!notAvailable.has(errorCode(error) ?? '')) throw explained(error, address, candidate, flag)
    }
  }
  throw new ExplainedError(`no port on ${address} is available for ingress: give one with ${flag}`)
}

function explained(error: unknown, address: string, port: number, flag: string): unknown {
  const code = errorCode(error)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ExplainedError(`${address} is not an address of this machine: give one with --ingress-address`, {
      cause: error,
    })
  if (!notAvailable.has(code ?? '')) return error
  const reason = code === 'EACCES' ? 'needs more privileges' : 'is in use by another process'
  return new ExplainedError(`port ${port} on ${address} ${reason}: choose another with ${flag}`, { cause: error })
}
