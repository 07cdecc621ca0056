/** The thread that controllers run on: what its starter gives it is in `workerData`, and tokens are signed by the starter. */
import { parentPort, workerData } from 'node:worker_threads'
import { runControllers } from '../../controllers/index.ts'
import { giveBackMemory } from '../../lib/give-back-memory.ts'
import { certificateSigner } from '../pki/certificate-signer.ts'
import type { Claims, ControllerTask, Order, Report } from './messages.ts'

const { plan, server, authority } = workerData as ControllerTask
const port = parentPort!
const tell = (report: Report): void => port.postMessage(report)

const signing = new Map<number, { readonly resolve: (token: string) => void; readonly reject: (error: Error) => void }>()
let signed = 0

function signToken(claims: Claims): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  signing.set(++signed, { resolve, reject })
  tell({ sign: signed, claims })
  return promise
}

const running = runControllers(plan, { rootCA: server.ca, signer: certificateSigner(authority), signToken }, server, (line) => tell({ log: line }))
void running.synced.then(() => tell({ synced: true }))
giveBackMemory()

port.on('message', (order: Order) => {
  if ('stop' in order) {
    void running.stop().then(() => port.close())
    return
  }
  const asked = signing.get(order.signed)
  signing.delete(order.signed)
  if ('token' in order) asked?.resolve(order.token)
  else asked?.reject(new Error(order.error))
})
