/**
 * Fills every field of every kind in every shape and way, and prints what kept the server for longer than `HEAVY_FROM`
 * ms (100 unless said). All of it takes a day; `HEAVY_KINDS=Pod,Service`, `HEAVY_TYPES=array,map` and
 * `HEAVY_WAYS=create` choose, `HEAVY_BYTES` makes bodies smaller, and with `HEAVY_ONCE=1` a field that kinds share is
 * filled in one of them only.
 *
 *     HEAVY_ONCE=1 HEAVY_WAYS=create HEAVY_BYTES=300000 scripts/node test/attacks/cost/sweep.ts
 */
import type { ResourceDefinition } from '../../../src/api/resource.ts'
import { fieldName, type HeavyField, heavyFields } from './heavy-fields.ts'
import { heavyPath, heavyRequest, lightObject, ways } from './heavy-requests.ts'
import { shapesOf } from './heavy-values.ts'
import { type Measured, measuredServer } from './measured-server.ts'

const chosen = (name: string): ((value: string) => boolean) => {
  const list = process.env[name]?.split(',')
  return (value) => !list || list.includes(value)
}
const isKind = chosen('HEAVY_KINDS')
const isType = chosen('HEAVY_TYPES')
const isWay = chosen('HEAVY_WAYS')
const bytes = Number(process.env.HEAVY_BYTES ?? 3_100_000)
const shownFrom = Number(process.env.HEAVY_FROM ?? 100)
const shownAtEnd = 40

const cleanUps: (() => unknown)[] = []
const server = await measuredServer({ after: (cleanUp) => cleanUps.push(cleanUp) })
const found: { readonly what: string; readonly measured: Measured }[] = []
let sent = 0

const shown = ({ what, measured: { cpuMs, status, bytes: answered } }: (typeof found)[number]): string =>
  `${cpuMs.toFixed(0)} ms: ${what} → ${status}, ${answered} bytes`

function note(what: string, measured: Measured): void {
  sent++
  if (measured.cpuMs < shownFrom) return
  found.push({ what, measured })
  console.log(shown({ what, measured }))
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
      note(what, measured)
      if (measured.status !== 201 || way !== 'create') continue
      note(`${what}, then GET`, await server.send({ method: 'GET', path }))
      note(
        `${what}, then a small patch`,
        await server.send({ method: 'PATCH', path, contentType: merge, body: '{"metadata":{"labels":{"x":"y"}}}' }),
      )
      note(`${what}, then DELETE`, await server.send({ method: 'DELETE', path }))
    }
  }
}

/** The last two steps of a path tell which field it is; templates of pods are the same in all kinds. */
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

found.sort((a, b) => b.measured.cpuMs - a.measured.cpuMs)
console.log(`${sent} requests; the worst:`)
for (const one of found.slice(0, shownAtEnd)) console.log(shown(one))
for (const cleanUp of cleanUps.reverse()) await cleanUp()
