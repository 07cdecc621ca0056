/** The thread of `--ingress` with a backend and the clients, so that the proxy's thread has the proxy alone. */
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'

export interface LoadOrder {
  readonly port: number
  readonly clients: number
  readonly ms: number
}

export type LoadReport = { readonly backend: number } | { readonly requests: number }

const port = parentPort!
const post = (report: LoadReport): void => port.postMessage(report)
const body = Buffer.alloc(1024, 'x')

const backend = createServer((_, response) => response.end(body))
backend.listen(0, '127.0.0.1', () => post({ backend: (backend.address() as AddressInfo).port }))
port.on('message', (order: LoadOrder) => void load(order).then((requests) => post({ requests })))

/** Each client sends a request after the response to the one before. Resolves with the number of requests. */
async function load({ port: to, clients, ms }: LoadOrder): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const end = performance.now() + ms
  let requests = 0
  const send = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const sent = request({ host: '127.0.0.1', port: to, agent, headers: { host: 'bench.example.com' } }, (response) =>
      response.resume().once('end', resolve),
    )
    sent.once('error', reject).end()
    return promise
  }
  const client = async (): Promise<void> => {
    for (; performance.now() < end; requests++) await send()
  }
  await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  return requests
}
