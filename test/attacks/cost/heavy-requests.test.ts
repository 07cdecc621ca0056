/**
 * Requests of allowed size, made to be as much work as possible: the worst that are known, and fields of all kinds at
 * random for `HEAVY_SECONDS` (15 unless said; `HEAVY_SEED` repeats the choice). The server always goes on answering
 * others. `sweep.ts` tries everything.
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
 * CPU time, which grows on a busy machine too: caches are cold, and collecting garbage counts. Where nothing else runs
 * it is a tenth.
 */
const patienceMs = 1500
/** What somebody would notice; all of these are told. */
const noticedMs = 150

const bodyBytes = 3_000_000
const seed = Number(process.env.HEAVY_SEED ?? Math.floor(Math.random() * 2 ** 32))
const seconds = Number(process.env.HEAVY_SECONDS ?? 15)

/** Fails if the server was busy for too long, or did not answer. */
function judge(t: TestContext, name: string, { status, start, cpuMs }: Measured): void {
  if (cpuMs > noticedMs) t.diagnostic(`${name}: ${cpuMs.toFixed(0)} ms`)
  assert.ok(cpuMs <= patienceMs, `${name} kept the server busy for ${cpuMs.toFixed(0)} ms`)
  assert.ok(status > 0, `${name} was not answered`)
  assert.doesNotMatch(start, /call stack|invalid (array|string) length/i, name)
}

test('no known heavy request stops the server', { timeout: 110_000 }, async (t) => {
  const server = await measuredServer(t)
  for (const victim of victims) await server.send(victim)
  const worst = { name: '', cpuMs: 0, lightMs: 0 }
  for (const { name, ...request } of heavyCases()) {
    const measured = await server.sendBeside(request)
    judge(t, name, measured)
    if (measured.cpuMs > worst.cpuMs) Object.assign(worst, { name, cpuMs: measured.cpuMs })
    worst.lightMs = Math.max(worst.lightMs, measured.lightMs)
  }
  t.diagnostic(
    `worst: ${worst.name}, ${worst.cpuMs.toFixed(0)} ms of CPU; /readyz took up to ${worst.lightMs.toFixed(0)} ms`,
  )
})

test(`no field of any kind stops the server when it is filled (HEAVY_SEED=${seed})`, {
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
    judge(t, name, measured)
    if (measured.cpuMs > worst.cpuMs) Object.assign(worst, { name, cpuMs: measured.cpuMs })
  }
  t.diagnostic(`${sent} requests; worst: ${worst.name}, ${worst.cpuMs.toFixed(0)} ms of CPU`)
})
