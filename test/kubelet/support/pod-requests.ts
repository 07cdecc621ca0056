/** Requests to subresources of pods over WebSockets, through the API server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Pod } from '../../../src/client/kinds.ts'
import type { Status } from '../../../src/machinery/status-error.ts'
import type { Reach } from '../../support/reachable-cluster.ts'

/** A node, or anything else that knows its cluster. */
interface OfCluster {
  readonly cluster: Pick<Reach, 'client'>
}

/** The path of a subresource of a pod. */
export const pathOf = ({ metadata: { namespace, name } }: Pod, subresource: string): string =>
  `/api/v1/namespaces/${namespace}/pods/${name}/${subresource}`

/** Resolves with all messages when the server has closed the connection. */
export async function messagesOf({ cluster }: OfCluster, path: string, protocol: string): Promise<readonly Buffer[]> {
  const { url, ca, cert, key } = cluster.client
  const socket = new WebSocket(`${url.replace('https', 'wss')}${path}`, protocol, { ca, cert, key })
  const messages: Buffer[] = []
  socket.on('message', (data) => void messages.push(data as Buffer))
  await once(socket, 'close')
  assert.equal(socket.protocol, protocol)
  return messages
}

/** The bytes of one channel of messages. */
export const channelOf = (messages: readonly Buffer[], channel: number): string =>
  Buffer.concat(messages.filter((one) => one[0] === channel).map((one) => one.subarray(1))).toString()

/** Runs a command in a container, by default the first one. Resolves with its output, and rejects if it fails. */
export async function runIn(
  node: OfCluster,
  pod: Pod,
  command: readonly string[],
  container?: string,
): Promise<string> {
  const query = new URLSearchParams([
    ['stdout', '1'],
    ['stderr', '1'],
    ['container', container ?? pod.spec?.containers[0]?.name ?? ''],
    ...command.map((argument): [string, string] => ['command', argument]),
  ])
  const messages = await messagesOf(node, `${pathOf(pod, 'exec')}?${query}`, 'v4.channel.k8s.io')
  const { status, message } = JSON.parse(channelOf(messages, 3)) as Status
  assert.equal(status, 'Success', `${command.join(' ')}: ${message} ${channelOf(messages, 2)}`)
  return channelOf(messages, 1)
}
