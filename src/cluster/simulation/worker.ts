/** The thread of the simulated nodes. Its options are in `workerData`. */
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { bearerToken } from '../../client/connection/credentials/credentials.ts'
import { ClockMemory } from '../../lib/clock/clock-memory.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { releaseMemoryWhenIdle } from '../../lib/process/memory/release-memory.ts'
import { lowerThreadPriority } from '../../lib/process/thread-priority.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import { runSimulation } from '../../simulation/index.ts'
import type { StopCommand } from '../threads/component-thread.ts'
import type { Report, SimulationTask } from './messages.ts'

const { options, server, clockBuffer } = workerData as SimulationTask
const port = parentPort!
const post = (report: Report): void => port.postMessage(report)

const clock = new MovableClock(new ClockMemory(clockBuffer))
const running = runSimulation(
  { ...options, clock },
  { url: server.url, ca: server.ca, credentials: bearerToken(server.token) },
  (line) => post({ log: line }),
)
running.started.then(
  () => {
    flushCompileCache()
    post({ synced: true })
  },
  (error: Error) => post({ failed: error.message }),
)
lowerThreadPriority()
releaseMemoryWhenIdle()
surviveErrors((line) => post({ unhandled: line }))

function end(): void {
  clock.stop()
  port.close()
}

port.on('message', (order: StopCommand) => {
  if (order.stop) void running.stop().then(end)
})
