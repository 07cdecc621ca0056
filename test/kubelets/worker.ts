/**
 * A stand-in for upstream's kubelet on a node of its own: an HTTPS server at an address of the node, whose host name
 * resolves nowhere.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Node, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { selfSignedPair } from '../../src/cluster/pki/self-signed.ts'
import type { ClusterOptions } from '../../src/cluster/start-cluster.ts'
import type { ContainerStreams } from '../../src/node/streaming/container-streams.ts'
import { serveStream } from '../../src/node/streaming/serve-stream.ts'
import { simulatedStreams } from '../../src/simulation/kubelet/pod-streams.ts'
import { clientFor } from '../support/client-for.ts'
import type { Lifetime } from '../support/reachable-cluster.ts'
import type { TestCluster } from '../support/test-cluster.ts'

const address = '127.0.0.2'

export interface Worker {
  /** Requests so far, `METHOD PATH?QUERY`, with the name of the client's certificate. */
  readonly asked: readonly { readonly line: string; readonly by: string | undefined }[]
}

const node = (port: number): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'worker-1' },
  status: {
    addresses: [
      { type: 'Hostname', address: 'worker-1.invalid' },
      { type: 'InternalIP', address },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  },
})

export const web: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: { nodeName: 'worker-1', containers: [{ name: 'c', image: 'nginx:1' }] },
}

/** A cluster without controllers: the node has no leases that would keep it alive. */
export const lonely: ClusterOptions = {
  controllers: false,
  apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  tokens: [{ token: 'secret', user: { name: 'browser', groups: ['system:masters'] } }],
}

const runPods = simulatedStreams(() => ({ current: () => web, onChange: () => () => {} }))

/** Commands print themselves. */
const echoingStreams: ContainerStreams = {
  ...runPods,
  async exec(_container, words, { stdout }) {
    stdout?.write(`${words.join(' ')}\n`)
    return 0
  },
}

/** Registers the node and a pod on it. `writeLog` answers requests for the pod's log. */
export async function startWorker(
  t: Lifetime,
  cluster: TestCluster,
  writeLog: (response: ServerResponse) => void,
  streams: ContainerStreams = echoingStreams,
): Promise<Worker> {
  const asked: { line: string; by: string | undefined }[] = []
  const server = createServer({
    ...(await selfSignedPair('worker-1', ['worker-1'])),
    requestCert: true,
    rejectUnauthorized: false,
  })
  const note = ({ method, url, socket }: { method?: string; url?: string; socket: unknown }): void => {
    asked.push({ line: `${method} ${url}`, by: `${(socket as TLSSocket).getPeerCertificate().subject?.CN}` })
  }
  server.on('request', (request, response) => {
    note(request)
    if (request.url?.startsWith('/containerLogs/')) writeLog(response)
    else response.writeHead(404).end()
  })
  server.on('upgrade', async (request, socket, head) => {
    note(request)
    socket.on('error', () => socket.destroy())
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://kubelet')
    const [kind = ''] = pathname.slice(1).split('/')
    const container = { namespace: 'default', name: 'web', uid: '', container: 'c' }
    await serveStream({ request, socket, head }, kind, container, searchParams, streams)
  })
  server.listen(0, address)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const client = clientFor(t, cluster)
  await client.create(nodes, node((server.address() as AddressInfo).port))
  const pod = await client.create(pods, web)
  await client.updateStatus(pods, { ...pod, status: { ...pod.status, phase: 'Running' } })
  return { asked }
}
