/**
 * The most expensive requests of allowed size: the worst known ones, and random fields of all kinds for `HEAVY_SECONDS`
 * (default: 15; `HEAVY_SEED` repeats a run). The server must stay responsive to other clients. `sweep.ts` tries all
 * fields.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Random } from '../../fuzz/random.ts'
import { heavyCases, victims } from './heavy-cases.ts'
import { fieldName, heavyFields } from './heavy-fields.ts'
import { heavyPath, heavyRequest, lightObject, ways } from './heavy-requests.ts'
import { shapesOf } from './heavy-values.ts'
import { type Measured, measuredServer } from './measured-server.ts'

/**
 * Limit of the CPU time that a request may block the server. CPU time too grows on a busy machine, by cold caches and
 * garbage collection; on an idle machine it is a tenth of this.
 */
const maxCpuMs = 1500
/** Requests above this, which a user would notice, are printed. */
const reportFromMs = 150

const bodyBytes = 3_000_000
const seed = Number(process.env.HEAVY_SEED ?? Math.floor(Math.random() * 2 ** 32))
const seconds = Number(process.env.HEAVY_SECONDS ?? 15)

/** Fails if the request blocked the server for too long or was not answered. */
function assertFast(t: TestContext, name: string, { status, start, cpuMs }: Measured): void {
  if (cpuMs > reportFromMs) t.diagnostic(`${name}: ${cpuMs.toFixed(0)} ms`)
  assert.ok(cpuMs <= maxCpuMs, `${name} blocked the server for ${cpuMs.toFixed(0)} ms`)
  assert.ok(status > 0, `${name} was not answered`)
  assert.doesNotMatch(start, /call stack|invalid (array|string) length/i, name)
}

test('no known heavy request blocks the server', { timeout: 110_000 }, async (t) => {
  const server = await measuredServer(t)
  for (const victim of victims) await server.send(victim)
  const worst = { name: '', cpuMs: 0, lightMs: 0 }
  for (const { name, ...request } of heavyCases()) {
    const measured = await server.sendBeside(request)
    assertFast(t, name, measured)
    if (measured.cpuMs > worst.cpuMs) Object.assign(worst, { name, cpuMs: measured.cpuMs })
    worst.lightMs = Math.max(worst.lightMs, measured.lightMs)
  }
  t.diagnostic(
    `worst: ${worst.name}, ${worst.cpuMs.toFixed(0)} ms of CPU; /readyz took up to ${worst.lightMs.toFixed(0)} ms`,
  )
})

test(`no random large field blocks the server (HEAVY_SEED=${seed})`, {
  timeout: (seconds + 90) * 1000,
}, async (t) => {
  const server = await measuredServer(t)
  const r = new Random(seed)
  const fields = heavyFields()
  const worst = { name: '', cpuMs: 0 }
  let sent = 0
  for (const end = performance.now() + seconds * 1000; performance.now() < end; sent++) {
    const field = r.pick(fields)
    const shape = r.pick(shapesOf(field.type))
    const way = r.pick(ways)
    const { definition } = field
    const object = `o${sent}`
    if (way !== 'create')
      await server.send({
        method: 'POST',
        path: heavyPath(definition),
        contentType: 'application/json',
        body: JSON.stringify(lightObject(definition, object)),
      })
    const measured = await server.send(heavyRequest(field, shape, way, object, bodyBytes))
    const name = `${fieldName(field)}, ${shape.name}, by ${way}`
    assertFast(t, name, measured)
    if (measured.cpuMs > worst.cpuMs) Object.assign(worst, { name, cpuMs: measured.cpuMs })
  }
  t.diagnostic(`${sent} requests; worst: ${worst.name}, ${worst.cpuMs.toFixed(0)} ms of CPU`)
})
