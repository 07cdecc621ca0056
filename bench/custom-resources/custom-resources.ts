/**
 * `npm run bench -- --custom`: compares custom resources with ConfigMaps of the same size, phase by phase, and measures
 * the cost of hundreds of definitions. Kinds alternate over several rounds because of noise; only the server's CPU time
 * counts.
 */
import { Agent, request } from 'node:https'
import type { Kind } from '../load/objects.ts'
import { type Generator, measure } from '../load/run-load.ts'
import { token } from '../server/rights.ts'
import { residentMegabytes, type Server, startServer, stopServer } from '../server/server.ts'

const phases = ['create', 'get', 'list', 'update', 'patch', 'watch', 'delete']
const kinds: readonly Kind[] = ['configmaps', 'gadgets']
/** The first round warms the server up. */
const rounds = 4
const targetRatio = 0.8
const definitions = 500
const targetKilobytes = 100
const targetUsableMs = 100
const restMs = 10_000
const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

type Schema = Readonly<Record<string, unknown>>

const text = { type: 'string', description: 'A text with instructions.' }
const structure = (depth: number): Schema => ({
  type: 'object',
  description: 'A structure with the next level.',
  properties: Object.fromEntries(
    Array.from({ length: 6 }, (_, i) => [`field${i}`, depth > 0 ? structure(depth - 1) : text]),
  ),
})

const definitionOf = (plural: string, kind: string, group: string, spec: Schema): Schema => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
})

export async function benchCustom(directory: string, tokenFile: string, generator: Generator): Promise<void> {
  const server = await startServer(directory, tokenFile)
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  const send = (method: string, path: string, body?: Schema): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const sent = request(new URL(path, server.url), { method, agent, headers }, (response) => {
        response.on('end', () => resolve(response.statusCode ?? 0)).resume()
      })
      sent.on('error', reject).end(body && JSON.stringify(body))
    })
  /** Returns the time in ms until objects can be listed. */
  const define = async (plural: string, kind: string, group: string, spec: Schema): Promise<number> => {
    const started = performance.now()
    const status = await send('POST', definitionsPath, definitionOf(plural, kind, group, spec))
    if (status !== 201) throw new Error(`the definition of ${plural} failed with ${status}`)
    while ((await send('GET', `/apis/${group}/v1/${plural}`)) !== 200) await new Promise(setImmediate)
    return performance.now() - started
  }
  try {
    await define('gadgets', 'Gadget', 'bench.example.com', { type: 'object', properties: { k: { type: 'string' } } })
    await compare(server, generator)
    const before = await atRest(server)
    const started = performance.now()
    const waits: number[] = []
    for (let i = 0; i < definitions; i++)
      waits.push(await define(`things${i}`, `Thing${i}`, `g${i % 20}.example.com`, structure(1)))
    const each = (performance.now() - started) / definitions
    const kilobytes = ((await atRest(server)) - before) * (1024 / definitions)
    waits.sort((a, b) => a - b)
    const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => waits[Math.floor(waits.length * share)])
    console.log(
      `${definitions} definitions: ${each.toFixed(1)} ms each, usable after ${p50.toFixed(0)} ms (p99 ` +
        `${p99.toFixed(0)} ms), target ≤ ${targetUsableMs} ms${p50 <= targetUsableMs ? '' : ': MISSED'}; ` +
        `${kilobytes.toFixed(0)} KB each at rest, target ≤ ${targetKilobytes} ` +
        `KB${kilobytes <= targetKilobytes ? '' : ': MISSED'}`,
    )
  } finally {
    agent.destroy()
    await stopServer(server)
  }
}

async function compare(server: Server, generator: Generator): Promise<void> {
  const spent = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++)
    for (const kind of kinds)
      for (const { phase, cpuMs, failures, firstFailure } of await measure(server, kind, phases, generator)) {
        if (failures > 0) throw new Error(`${kind}, ${phase}: ${firstFailure}`)
        if (round > 0 && cpuMs !== undefined)
          spent.set(`${kind} ${phase}`, [...(spent.get(`${kind} ${phase}`) ?? []), cpuMs])
      }
  for (const phase of phases) {
    const [builtIn, custom] = kinds.map((kind) => Math.min(...(spent.get(`${kind} ${phase}`) ?? [Number.NaN])))
    if (!builtIn || !custom) continue
    const ratio = builtIn / custom
    console.log(
      `${phase}: ${(builtIn * 1000).toFixed(0)} µs CPU per ConfigMap, ${(custom * 1000).toFixed(0)} µs per custom ` +
        `resource: ${ratio.toFixed(2)} × the speed, target ≥ ` +
        `${targetRatio}${ratio >= targetRatio ? '' : ': MISSED'}`,
    )
  }
}

async function atRest(server: Server): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, restMs))
  return residentMegabytes(server)
}
