/** The thread of the ingress proxy. Its options are in `workerData`. */
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { bearerToken } from '../../client/connection/credentials/credentials.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import { runIngress } from '../../network/ingress/ingress.ts'
import type { StopCommand } from '../threads/component-thread.ts'
import type { IngressTask, Report } from './messages.ts'

const { options, server } = workerData as IngressTask
const port = parentPort!
const post = (report: Report): void => port.postMessage(report)

const access = { url: server.url, ca: server.ca, credentials: bearerToken(server.token) }
const running = runIngress(options, access, (line) => post({ log: line }))
running.started.then(
  () => {
    flushCompileCache()
    post({ synced: true })
  },
  (error: Error) => post({ failed: error.message }),
)
surviveErrors((line) => post({ unhandled: line }))

port.on('message', (order: StopCommand) => {
  if (order.stop) void running.stop().then(() => port.close())
})
