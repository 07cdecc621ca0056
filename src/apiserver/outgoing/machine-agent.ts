/** Connections to servers on loopback addresses, for an API server in a user namespace. */
import { Agent } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { isLoopbackHost } from '../../lib/loopback-host.ts'
import { connectOutside } from '../../lib/rootless/connect-outside.ts'
import { socketFolder } from '../../lib/rootless/socket-folder.ts'

type Given = Parameters<Agent['createConnection']>

/**
 * An agent that also reaches servers on the machine's loopback addresses if this process has a network of its own. A
 * server in that network comes first.
 */
export class MachineAgent extends Agent {
  override createConnection(...given: Given): Duplex | null | undefined {
    const [options, done] = given
    const host = options.host ?? ''
    if (socketFolder() === undefined || !isLoopbackHost(host)) return super.createConnection(...given)
    const request = { host, port: Number(options.port) }
    const use = (socket: Socket): void => done?.(null, connectTls({ ...(options as ConnectionOptions), socket }))
    const inner = connect(request)
    inner.once('connect', () => {
      inner.removeAllListeners('error')
      use(inner)
    })
    inner.once('error', () => use(connectOutside(request)!))
    return undefined
  }
}
