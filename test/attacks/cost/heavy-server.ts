/**
 * The server that heavy requests are sent to, in a process of its own. When asked, it tells for how long at most it was
 * busy without a turn for anybody else: in CPU time of its thread, which neighbours on the machine do not lengthen, and
 * by the clock.
 */
import { startCluster } from '../../../src/cluster/start-cluster.ts'

const tell = (message: object): unknown => process.send?.(message)

const cluster = await startCluster({
  storage: 'memory',
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

// The question itself is answered in a later turn, when the timer has run.
process.on('message', () =>
  setTimeout(() => {
    tell({ worst })
    worst = { cpuMs: 0, clockMs: 0 }
  }, 3),
)
process.on('disconnect', () => process.exit())
tell({ port: cluster.port })
