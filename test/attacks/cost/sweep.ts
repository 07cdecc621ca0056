/**
 * Fills every field of every kind in every shape and way, and prints the requests that block the server for longer than
 * `HEAVY_FROM` ms (default: 100). A full run takes a day; `HEAVY_KINDS=Pod,Service`, `HEAVY_TYPES=array,map` and
 * `HEAVY_WAYS=create` select parts, `HEAVY_BYTES` sets the size of bodies, and with `HEAVY_ONCE=1` a field that several
 * kinds share is filled in one of them only.
 *
 *     HEAVY_ONCE=1 HEAVY_WAYS=create HEAVY_BYTES=300000 scripts/node test/attacks/cost/sweep.ts
 */
import type { ResourceDefinition } from '../../../src/api/resource.ts'
import { fieldName, type HeavyField, heavyFields } from './heavy-fields.ts'
import { heavyPath, heavyRequest, lightObject, ways } from './heavy-requests.ts'
import { shapesOf } from './heavy-values.ts'
import { type Measured, measuredServer } from './measured-server.ts'

const selectedBy = (name: string): ((value: string) => boolean) => {
  const list = process.env[name]?.split(',')
  return (value) => !list || list.includes(value)
}
const isKind = selectedBy('HEAVY_KINDS')
const isType = selectedBy('HEAVY_TYPES')
const isWay = selectedBy('HEAVY_WAYS')
const bytes = Number(process.env.HEAVY_BYTES ?? 3_100_000)
const reportFromMs = Number(process.env.HEAVY_FROM ?? 100)
const reportedAtEnd = 40

const cleanUps: (() => unknown)[] = []
const server = await measuredServer({ after: (cleanUp) => cleanUps.push(cleanUp) })
const reports: { readonly what: string; readonly measured: Measured }[] = []
let sent = 0

const describe = ({ what, measured: { cpuMs, status, bytes: answered } }: (typeof reports)[number]): string =>
  `${cpuMs.toFixed(0)} ms: ${what} → ${status}, ${answered} bytes`

function report(what: string, measured: Measured): void {
  sent++
  if (measured.cpuMs < reportFromMs) return
  reports.push({ what, measured })
  console.log(describe({ what, measured }))
}

const name = 'heavy'
const json = 'application/json'
const merge = 'application/merge-patch+json'
const itemPath = (definition: ResourceDefinition): string => `${heavyPath(definition)}/${name}`

async function remove(definition: ResourceDefinition): Promise<void> {
  const path = itemPath(definition)
  await server.send({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` })
  await server.send({ method: 'PATCH', path, contentType: merge, body: '{"metadata":{"finalizers":null}}' })
}

async function tryField(field: HeavyField): Promise<void> {
  const { definition, type } = field
  const path = itemPath(definition)
  for (const shape of shapesOf(type)) {
    for (const way of ways.filter(isWay)) {
      await remove(definition)
      if (way !== 'create' && way !== 'apply') {
        const body = JSON.stringify(lightObject(definition, name))
        const { status } = await server.send({ method: 'POST', path: heavyPath(definition), contentType: json, body })
        if (status !== 201) continue
      }
      const what = `${fieldName(field)}, ${shape.name}, by ${way}`
      const measured = await server.send(heavyRequest(field, shape, way, name, bytes))
      report(what, measured)
      if (measured.status !== 201 || way !== 'create') continue
      report(`${what}, then GET`, await server.send({ method: 'GET', path }))
      report(
        `${what}, then a small patch`,
        await server.send({ method: 'PATCH', path, contentType: merge, body: '{"metadata":{"labels":{"x":"y"}}}' }),
      )
      report(`${what}, then DELETE`, await server.send({ method: 'DELETE', path }))
    }
  }
}

/** A field is identified by the last three steps of its path, as pod templates are the same in all kinds. */
const seen = new Set<string>()
const isKnown = ({ path }: HeavyField): boolean => {
  const key = JSON.stringify(path.slice(-3))
  if (seen.has(key)) return true
  seen.add(key)
  return false
}

for (const field of heavyFields())
  if (isKind(field.definition.kind) && isType(field.type.kind) && !(process.env.HEAVY_ONCE && isKnown(field)))
    await tryField(field)

reports.sort((a, b) => b.measured.cpuMs - a.measured.cpuMs)
console.log(`${sent} requests; the worst:`)
for (const one of reports.slice(0, reportedAtEnd)) console.log(describe(one))
for (const cleanUp of cleanUps.reverse()) await cleanUp()
