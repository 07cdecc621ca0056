/**
 * The server that heavy requests are sent to, in a child process. On a message, it sends the longest time that its
 * event loop was blocked since the last message: in CPU time of its thread, which other processes hardly affect, and in
 * wall time.
 */
import { startCluster } from '../../../src/cluster/start-cluster.ts'

const send = (message: object): unknown => process.send?.(message)

const cluster = await startCluster({
  storage: 'memory',
  thread: false,
  runtimeConfig: ['api/all=true'],
  tokens: [{ token: 'heavy', user: { name: 'heavy', groups: ['system:masters'] } }],
})

const cpuNow = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let worst = { cpuMs: 0, clockMs: 0 }
let lastCpu = cpuNow()
let lastClock = performance.now()
setInterval(() => {
  const cpu = cpuNow()
  const clock = performance.now()
  worst = { cpuMs: Math.max(worst.cpuMs, cpu - lastCpu), clockMs: Math.max(worst.clockMs, clock - lastClock) }
  lastCpu = cpu
  lastClock = clock
}, 1)

// Answered in a later turn, so that the interval above has run after the last request.
process.on('message', () =>
  setTimeout(() => {
    send({ worst })
    worst = { cpuMs: 0, clockMs: 0 }
  }, 3),
)
process.on('disconnect', () => process.exit())
send({ port: cluster.port })
