/** Widgets in three versions that say the same in other shapes, and the ways between them. */
export interface Widget {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name?: string; readonly [field: string]: unknown }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

export const group = 'shop.example.com'
export const kind = 'Widget'

interface Place {
  readonly host: unknown
  readonly port: unknown
}

/** Where a widget is, in any version, and what else its spec says. */
function placeOf({ apiVersion, spec = {} }: Widget): {
  readonly place: Place
  readonly rest: Readonly<Record<string, unknown>>
} {
  switch (apiVersion) {
    case `${group}/v1`: {
      const { hostPort = '', ...rest } = spec
      const [host, port = '0'] = String(hostPort).split(':')
      return { place: { host, port: Number(port) }, rest }
    }
    case `${group}/v2`: {
      const { host = '', port = 0, ...rest } = spec
      return { place: { host, port }, rest }
    }
    default: {
      const { address = {}, ...rest } = spec
      const { host = '', port = 0 } = address as Partial<Place>
      return { place: { host, port }, rest }
    }
  }
}

export function convertWidget(widget: Widget, apiVersion: string): Widget {
  const { place, rest } = placeOf(widget)
  const shape = { v1: { hostPort: `${place.host}:${place.port}` }, v2: { ...place }, v3: { address: { ...place } } }[
    apiVersion.split('/')[1] ?? ''
  ]
  return { ...widget, apiVersion, spec: { ...shape, ...rest } }
}

const text = { type: 'string' }
const number = { type: 'integer' }
const shapes = {
  v1: { hostPort: text },
  v2: { host: text, port: number },
  v3: { address: { type: 'object', properties: { host: text, port: number } } },
} as const

export type WidgetVersion = keyof typeof shapes

export interface DefinitionOptions {
  readonly clientConfig?: object
  readonly storage?: WidgetVersion
  readonly versions?: readonly WidgetVersion[]
  readonly conversionReviewVersions?: readonly string[]
}

/** A definition whose versions a webhook converts, or nobody. */
export function widgetDefinition({
  clientConfig,
  storage = 'v1',
  versions = ['v1', 'v2', 'v3'],
  conversionReviewVersions = ['v1', 'v1beta1'],
}: DefinitionOptions): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind, listKind: 'WidgetList' },
      conversion: clientConfig
        ? { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } }
        : { strategy: 'None' },
      versions: versions.map((name) => ({
        name,
        served: true,
        storage: name === storage,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  ...shapes[name],
                  size: number,
                  notes: { type: 'object', additionalProperties: text },
                  tags: { type: 'array', items: text },
                },
              },
              status: { type: 'object', properties: { size: number, seen: text } },
            },
          },
        },
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        additionalPrinterColumns: [
          {
            name: 'Place',
            type: 'string',
            jsonPath: { v1: '.spec.hostPort', v2: '.spec.host', v3: '.spec.address.host' }[name],
          },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        ],
      })),
    },
  }
}

export const widget = (version: string, name: string, spec: object): object => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name },
  spec,
})
