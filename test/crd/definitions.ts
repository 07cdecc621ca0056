/** Definitions that tests create, and small steps with them. */
import assert from 'node:assert/strict'
import { type Answer, type Client, type Json, json, until } from '../support/api-client.ts'

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export interface Gadgets {
  readonly group?: string
  readonly plural?: string
  readonly kind?: string
  /** The names of versions; the first is stored. */
  readonly versions?: readonly string[]
  /** Properties of `spec`, beside `n`, a number, and `text`. */
  readonly spec?: object
}

export const gadgetsPath = '/apis/example.com/v1/namespaces/default/gadgets'

const versionOf = (name: string, storage: boolean, spec: object): object => ({
  name,
  served: true,
  storage,
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { n: { type: 'integer' }, text: { type: 'string' }, ...spec } },
        status: { type: 'object', properties: { n: { type: 'integer' } } },
      },
    },
  },
})

/** Gadgets of `example.com/v1`, unless something else is said. */
export const definitionOf = ({
  group = 'example.com',
  plural = 'gadgets',
  kind = 'Gadget',
  versions = ['v1'],
  spec = {},
}: Gadgets = {}): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind },
    versions: versions.map((name, i) => versionOf(name, i === 0, spec)),
  },
})

export const gadgetOf = (name: string, spec: object = { n: 0 }, version = 'v1'): object => ({
  apiVersion: `example.com/${version}`,
  kind: 'Gadget',
  metadata: { name },
  spec,
})

/** Creates a definition and waits until it is served. */
export async function define(client: Client, definition: object = definitionOf(), path = gadgetsPath): Promise<void> {
  const { status, bytes } = await client.request('POST', definitionsPath, { body: definition })
  assert.equal(status, 201, bytes.toString())
  await served(client, path)
}

export const served = (client: Client, path = gadgetsPath): Promise<void> =>
  until(`${path} is served`, async () => (await client.request('GET', path)).status === 200)

export const mergePatch = (client: Client, path: string, body: object): Promise<Answer> =>
  client.request('PATCH', path, { body, headers: { 'content-type': 'application/merge-patch+json' } })

/** Changes a definition as often as somebody else is faster. */
export async function redefine(
  client: Client,
  change: (spec: DefinitionSpec) => void,
  name = 'gadgets.example.com',
): Promise<void> {
  for (;;) {
    const definition = json<Json & { spec: DefinitionSpec }>(await client.request('GET', `${definitionsPath}/${name}`))
    change(definition.spec)
    const { status, bytes } = await client.request('PUT', `${definitionsPath}/${name}`, { body: definition })
    if (status === 409) continue
    assert.equal(status, 200, bytes.toString())
    return
  }
}

/** The fields of a definition that tests change. */
export interface DefinitionSpec {
  versions: {
    name: string
    served: boolean
    storage: boolean
    schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, object> } } } }
    additionalPrinterColumns?: object[]
  }[]
}

/** A change that everybody notices: a column more. */
export const addColumn =
  (name: string) =>
  ({ versions }: DefinitionSpec): void => {
    for (const version of versions)
      version.additionalPrinterColumns = [
        ...(version.additionalPrinterColumns ?? []),
        { name, type: 'integer', jsonPath: '.spec.n' },
      ]
  }
