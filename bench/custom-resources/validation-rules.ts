/**
 * `npm run bench -- --rules`: the cost of validation rules. Two definitions differ only in 20 rules; their objects are
 * created and replaced in alternation, and the server's CPU time per write is compared.
 */
import { Agent, request } from 'node:https'
import { median } from '../report.ts'
import { token } from '../server/rights.ts'
import { cpuMs, residentMegabytes, type Server, startServer, stopServer } from '../server/server.ts'

/** Because of noise: many short rounds, alternating between the kinds; the median counts. */
const rounds = 15
const clients = 8
const targetMicroseconds = 200
const group = 'bench.example.com'

const text = { type: 'string', maxLength: 253 }
const whole = { type: 'integer' }
type Schema = Readonly<Record<string, unknown>>

/** A schema like that of gateway routes; `ruled` adds rules. */
function schema(ruled: boolean): Schema {
  const rules = (...list: readonly string[]): Schema =>
    ruled ? { 'x-kubernetes-validations': list.map((rule) => ({ rule, message: 'must hold' })) } : {}
  const backend = {
    type: 'object',
    required: ['name', 'port'],
    properties: { name: text, kind: text, port: whole, weight: whole },
    ...rules(
      'self.port > 0 && self.port < 65536',
      '!has(self.weight) || self.weight <= 100',
      '!has(self.kind) || self.kind in ["Service", "Bucket"]',
    ),
  }
  const backends = {
    type: 'array',
    maxItems: 16,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: backend,
  }
  const hosts = {
    type: 'array',
    maxItems: 16,
    items: { ...text, ...rules('!self.startsWith("*") || self.startsWith("*.")') },
    ...rules('self.all(host, self.exists_one(other, other == host))'),
  }
  const labels = {
    type: 'object',
    maxProperties: 16,
    additionalProperties: text,
    ...rules('self.all(key, key.size() < 64)'),
  }
  const spec = {
    type: 'object',
    properties: {
      ...{ least: whole, most: whole, mode: text, url: text, hosts, labels, backends },
      name: { ...text, ...rules('self.matches("^[a-z]([-a-z0-9]*[a-z0-9])?$")', 'self.size() < 100') },
      start: { type: 'string', format: 'date-time' },
      span: { type: 'string', format: 'duration' },
      quota: { 'x-kubernetes-int-or-string': true, maxLength: 20 },
    },
    ...rules(
      'self.least <= self.most',
      'self.mode == oldSelf.mode',
      'self.name != "default"',
      'has(self.hosts) ? self.hosts.size() > 0 : true',
      'self.backends.exists(backend, backend.weight > 0)',
      'self.backends.map(backend, backend.weight).sum() == 100',
      'self.start > timestamp("2020-01-01T00:00:00Z")',
      'self.span < duration("2h")',
      'quantity(string(self.quota)).isGreaterThan(quantity("0"))',
      'url(self.url).getScheme() == "https"',
      'self.mode in ["Exact", "Prefix"]',
      '!(self.mode == "Exact" && "forbidden" in self.labels)',
    ),
  }
  return { type: 'object', properties: { spec } }
}

const definition = (plural: string, kind: string, ruled: boolean): Schema => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema(ruled) } }],
  },
})

const backend = (name: string, port: number): Schema => ({ name, kind: 'Service', port, weight: 50 })
const object = (kind: string, name: string, most: number, resourceVersion?: string): Schema => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name, resourceVersion },
  spec: {
    ...{ least: 1, most, name: 'my-route', mode: 'Exact', url: 'https://example.com/path' },
    ...{ start: '2024-01-01T00:00:00Z', span: '1h', quota: '10Gi', labels: { app: 'x', tier: 'y' } },
    hosts: ['a.example.com', '*.b.example.com', 'c.example.com'],
    backends: [backend('a', 80), backend('b', 81)],
  },
})

const kinds = [
  { plural: 'plains', kind: 'Plain', ruled: false },
  { plural: 'ruleds', kind: 'Ruled', ruled: true },
] as const

interface Response {
  readonly status: number
  readonly text: string
}

/** Costs of writes of a kind in µs of the server's CPU time, one per round. */
interface Costs {
  readonly create: number[]
  readonly replace: number[]
}

/** Each round writes `objects / 4` of each kind. */
export async function benchRules(directory: string, tokenFile: string, objects: number): Promise<void> {
  const server = await startServer(directory, tokenFile)
  const writer = new Writer(server, Math.ceil(objects / 4))
  try {
    for (const { plural, kind, ruled } of kinds) await writer.define(plural, kind, ruled)
    const costs = kinds.map((): Costs => ({ create: [], replace: [] }))
    for (let round = 0; round < rounds; round++)
      for (const [at, { plural, kind }] of kinds.entries()) {
        const { create, replace } = await writer.writeObjects(plural, kind, round)
        costs[at]?.create.push(create)
        costs[at]?.replace.push(replace)
      }
    printCosts(costs)
    console.log(`resident ${residentMegabytes(server).toFixed(0)} MB`)
  } finally {
    writer.close()
    await stopServer(server)
  }
}

class Writer {
  readonly #server: Server
  /** Number of objects per round. */
  readonly #count: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: clients, rejectUnauthorized: false })

  constructor(server: Server, count: number) {
    this.#server = server
    this.#count = count
  }

  /** Creates a definition and waits until it is served. */
  async define(plural: string, kind: string, ruled: boolean): Promise<void> {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const { status, text } = await this.#send('POST', path, definition(plural, kind, ruled))
    if (status !== 201) throw new Error(`definition failed with ${status}: ${text}`)
    while ((await this.#send('GET', `/apis/${group}/v1/${plural}`)).status !== 200)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }

  /** Creates and replaces the objects of a round; returns the cost of one write of each, in µs. */
  async writeObjects(plural: string, kind: string, round: number): Promise<{ create: number; replace: number }> {
    const path = `/apis/${group}/v1/namespaces/default/${plural}`
    const versions: string[] = []
    const name = (i: number): string => `object-${round}-${i}`
    const create = await this.#measure(201, async (i) => {
      const response = await this.#send('POST', path, object(kind, name(i), 2))
      versions[i] = /"resourceVersion":"(\d+)"/.exec(response.text)?.[1] ?? ''
      return response
    })
    const replace = await this.#measure(200, (i) =>
      this.#send('PUT', `${path}/${name(i)}`, object(kind, name(i), 3, versions[i])),
    )
    return { create, replace }
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Sends a request per object and returns the server's CPU time for each, in µs. */
  async #measure(expected: number, sendOne: (i: number) => Promise<Response>): Promise<number> {
    const before = cpuMs(this.#server) ?? 0
    let next = 0
    const client = async (): Promise<void> => {
      while (next < this.#count) {
        const { status, text } = await sendOne(next++)
        if (status !== expected) throw new Error(`failed with ${status}: ${text}`)
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    return (((cpuMs(this.#server) ?? 0) - before) * 1000) / this.#count
  }

  #send(method: string, path: string, body?: Schema): Promise<Response> {
    const { url } = this.#server
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const sent = request(new URL(path, url), { method, agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
      })
      sent.on('error', reject)
      sent.end(body && JSON.stringify(body))
    })
  }
}

function printCosts(costs: readonly Costs[]): void {
  for (const verb of ['create', 'replace'] as const) {
    // The first rounds warm the server up.
    const [plain = [], ruled = []] = costs.map((cost) => cost[verb].slice(2))
    const more = median(ruled.map((cost, round) => cost - (plain[round] ?? 0)))
    const verdict = more <= targetMicroseconds ? '' : ': MISSED'
    console.log(
      `${verb}: ${median(plain).toFixed(0)} µs CPU per write without rules, ${median(ruled).toFixed(0)} µs with ` +
        `20: ${more.toFixed(0)} µs more, target ≤ ${targetMicroseconds} µs${verdict}`,
    )
  }
}
