/** The ports of the kubelet of a real node. */
import { createServer } from 'node:net'
import type { KubeletConfiguration } from '../../../kubelet/configuration/index.ts'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'

type Ports = Pick<KubeletConfiguration, 'address' | 'port' | 'healthzBindAddress' | 'healthzPort'>

/**
 * Returns the configuration with ports that are free: beside another kubelet, any port for the server and none for
 * `/healthz`, unless `fields`, the names of fields that the user has set, has them. Rejects with an ExplainedError for
 * a given port that is in use.
 */
export async function withFreePorts<T extends Ports>(configuration: T, fields: ReadonlySet<string>): Promise<T> {
  const { address, port, healthzBindAddress, healthzPort } = configuration
  const choice = async (field: keyof Ports, host: string, number: number): Promise<number> => {
    const isFree = number === 0 || (await isPortFree(host, number))
    if (isFree) return number
    if (fields.has(field)) throw portInUse(number)
    return 0
  }
  return {
    ...configuration,
    port: await choice('port', address, port),
    healthzPort: await choice('healthzPort', healthzBindAddress, healthzPort),
  }
}

/**
 * Rejects with an ExplainedError if a port is in use: two kubelets on one runtime would remove each other's pods, and
 * their usual ports exclude that.
 */
export async function checkPorts({ address, port, healthzBindAddress, healthzPort }: Ports): Promise<void> {
  for (const [host, number] of [
    [address, port],
    [healthzBindAddress, healthzPort],
  ] as const)
    if (number > 0 && !(await isPortFree(host, number))) throw portInUse(number)
}

const portInUse = (port: number): ExplainedError =>
  new ExplainedError(
    `port ${port} is in use, probably by another kubelet, and a container runtime can have one kubelet only: stop ` +
      'it, or set another port in a file for --kubelet-config if it is another program',
  )

/** Rejects with an ExplainedError for an address of another machine. */
async function isPortFree(host: string, port: number): Promise<boolean> {
  const server = createServer()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  try {
    await promise
    return true
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') return false
    throw new ExplainedError(`the kubelet cannot listen on ${host}:${port}: ${reasonOf(error)}`, { cause: error })
  } finally {
    server.close()
  }
}
