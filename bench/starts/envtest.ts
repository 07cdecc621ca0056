/**
 * `npm run bench -- --envtest`: the cost of a control plane for a test suite, started as envtest does: the first one,
 * which starts the shared process, further ones in it, and ones with processes of their own. Times are from the start
 * of `etcd` until both are healthy.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import {
  type Assets,
  assets,
  type ControlPlane,
  sharedPid,
  startControlPlane,
} from '../../test/envtest/control-plane.ts'

const rounds = 5
const pairs = 20
/** Small compared with the measured times; envtest itself polls every 100 ms. */
const everyMs = 2

export async function benchEnvtest(): Promise<void> {
  const cleanUps: (() => unknown)[] = []
  const lifetime = { after: (cleanUp: () => unknown) => cleanUps.unshift(cleanUp) }
  try {
    const firsts: number[] = []
    const further: number[] = []
    const stops: number[] = []
    const megabytes: number[] = []
    let sharedMegabytes = 0
    for (let round = 0; round < rounds; round++) {
      const binaries = assets(lifetime, { T8S_ENVTEST_IDLE: '200ms' })
      const first = await startControlPlane(lifetime, binaries, { everyMs })
      firsts.push(first.readyMs.both)
      const planes = [first, await startControlPlane(lifetime, binaries, { everyMs })]
      further.push(planes[1]!.readyMs.both)
      const before = sharedMemory(binaries)
      while (planes.length < pairs) planes.push(await startControlPlane(lifetime, binaries, { everyMs }))
      further.push(...planes.slice(2).map(({ readyMs }) => readyMs.both))
      sharedMegabytes = sharedMemory(binaries)
      megabytes.push((sharedMegabytes - before) / (pairs - 2) + launcherMemory(first))
      for (const plane of planes) {
        const started = performance.now()
        await plane.stop()
        stops.push(performance.now() - started)
      }
    }
    const own = assets(lifetime, { T8S_ENVTEST_SHARED: 'false' })
    const alone: number[] = []
    let aloneMegabytes = 0
    for (let round = 0; round < rounds; round++) {
      const plane = await startControlPlane(lifetime, own, { everyMs })
      alone.push(plane.readyMs.both)
      aloneMegabytes = residentOf(plane.etcd.process.pid!) + residentOf(plane.apiServer.process.pid!)
      await plane.stop()
    }
    console.log(`first pair:     ${spread(firsts)} ms to both healthy (target 250)`)
    console.log(
      `further pairs:  ${spread(further)} ms (target 60), ${spread(megabytes)} MB each with both launchers (target 5)`,
    )
    console.log(
      `stop of a pair: ${spread(stops)} ms; shared process with ${pairs} pairs: ${sharedMegabytes.toFixed(0)} MB`,
    )
    console.log(`T8S_ENVTEST_SHARED=false: ${spread(alone)} ms, ${aloneMegabytes.toFixed(0)} MB`)
  } finally {
    for (const cleanUp of cleanUps) cleanUp()
  }
}

/** Median and maximum. */
function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  return `${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} (at most ${sorted.at(-1)?.toFixed(1)})`
}

const residentOf = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024

const sharedMemory = (binaries: Assets): number => residentOf(sharedPid(binaries)!)

/** Private memory of two shells; the pages of /bin/sh are shared. Linux only. */
const launcherMemory = ({ etcd, apiServer }: ControlPlane): number =>
  [etcd, apiServer].reduce(
    (sum, { process: { pid } }) =>
      sum + Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024,
    0,
  )
