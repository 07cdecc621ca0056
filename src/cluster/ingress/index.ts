/** The ingress proxy of a cluster, in this thread or on its own. */
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import { Connection } from '../../client/connection/connection.ts'
import { bearerToken } from '../../client/connection/credentials/credentials.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import type { IngressOptions, RunningIngress } from '../../network/ingress/ingress.ts'
import { machineHosts } from '../addresses/addresses.ts'
import { ingressUser } from './messages.ts'

/** The options of the ingress proxy. */
export interface ClusterIngress extends Omit<IngressOptions, 'address' | 'published'> {
  /** The address to listen on. Default: 127.0.0.1. */
  readonly address?: string
}

export interface RunningClusterIngress {
  /** The user of the proxy, which the server must accept; undefined without ingress. */
  readonly user: TokenUser | undefined
  /**
   * Starts in the background once the server runs. Resolves when the proxy serves or has failed, which is logged; never
   * rejects.
   */
  begin(server: { readonly url: string; readonly ca: string }, administrator: Access): Promise<void>
  stop(): Promise<void>
}

export interface ClusterIngressOptions {
  /** Undefined for none. */
  readonly ingress: ClusterIngress | undefined
  readonly onThread: boolean
  readonly log: (line: string) => void
}

/** Loads nothing and has no user without ingress. */
export function clusterIngress({ ingress, onThread, log }: ClusterIngressOptions): RunningClusterIngress {
  if (!ingress) return { user: undefined, begin: async () => {}, stop: async () => {} }
  const token = randomBytes(32).toString('base64url')
  const options = ingressOptions(ingress)
  let begun: Promise<RunningIngress> | undefined
  let isStopped = false

  async function start(server: { readonly url: string; readonly ca: string }, administrator: Access) {
    const connection = new Connection(administrator)
    try {
      await (await import('./rights.ts')).grantIngress(new RestClient(connection))
    } finally {
      connection.close()
    }
    if (onThread) return (await import('./thread.ts')).ingressOnThread({ options, server: { ...server, token } }, log)
    const { runIngress } = await import('../../network/ingress/ingress.ts')
    return runIngress(options, { ...server, credentials: bearerToken(token) }, log)
  }

  return {
    user: { token, user: { name: ingressUser, groups: [] } },
    async begin(server, administrator) {
      if (isStopped) return
      begun = start(server, administrator)
      await begun
        .then(({ started }) => started)
        .catch((error: Error) => isStopped || log(`ingress is not served: ${error.message}`))
    },
    async stop() {
      isStopped = true
      await (await begun?.catch(() => undefined))?.stop()
    },
  }
}

/** Adds the default address, and the addresses at which clients reach it. */
export function ingressOptions({ address = '127.0.0.1', ...options }: ClusterIngress): IngressOptions {
  return { ...options, address, published: machineHosts(address).filter((host) => isIP(host) !== 0) }
}
