/**
 * The thread that controllers run on: what its starter gives it is in `workerData`, and tokens are signed by the
 * starter.
 */
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { reasonOf } from '../../lib/explained-error.ts'
import { giveBackMemory } from '../../lib/process/give-back-memory.ts'
import { stepBack } from '../../lib/process/step-back.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import type { Claims, ControllerTask, Order, Report } from './messages.ts'
import { runTask } from './run-task.ts'

const port = parentPort!
const tell = (report: Report): void => port.postMessage(report)

const signing = new Map<
  number,
  { readonly resolve: (token: string) => void; readonly reject: (error: Error) => void }
>()
let signed = 0

function signToken(claims: Claims): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  signing.set(++signed, { resolve, reject })
  tell({ sign: signed, claims })
  return promise
}

const begun = runTask(workerData as ControllerTask, signToken, (line) => tell({ log: line }))
begun.then(
  ({ synced }) => {
    tell({ begun: true })
    void synced.then(() => {
      flushCompileCache()
      tell({ synced: true })
    })
  },
  (error) => tell({ failed: reasonOf(error) }),
)
stepBack()
giveBackMemory()
surviveErrors((line) => tell({ unhandled: line }))

port.on('message', (order: Order) => {
  if ('stop' in order) {
    void begun.then(({ stop }) => stop()).finally(() => port.close())
    return
  }
  if ('ping' in order) {
    tell({ alive: true })
    return
  }
  const asked = signing.get(order.signed)
  signing.delete(order.signed)
  if ('token' in order) asked?.resolve(order.token)
  else asked?.reject(new Error(order.error))
})
