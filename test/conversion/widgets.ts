/** Widgets: a custom resource with three versions of the same content, and the conversion between them. */
export interface Widget {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name?: string; readonly [field: string]: unknown }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

export const group = 'shop.example.com'
export const kind = 'Widget'

interface Address {
  readonly host: unknown
  readonly port: unknown
}

/** Splits the spec of a widget of any version into its address and the other fields. */
function splitAddress({ apiVersion, spec = {} }: Widget): {
  readonly address: Address
  readonly rest: Readonly<Record<string, unknown>>
} {
  switch (apiVersion) {
    case `${group}/v1`: {
      const { hostPort = '', ...rest } = spec
      const [host, port = '0'] = String(hostPort).split(':')
      return { address: { host, port: Number(port) }, rest }
    }
    case `${group}/v2`: {
      const { host = '', port = 0, ...rest } = spec
      return { address: { host, port }, rest }
    }
    default: {
      const { address = {}, ...rest } = spec
      const { host = '', port = 0 } = address as Partial<Address>
      return { address: { host, port }, rest }
    }
  }
}

export function convertWidget(widget: Widget, apiVersion: string): Widget {
  const { address, rest } = splitAddress(widget)
  const shapes: Record<string, object> = {
    v1: { hostPort: `${address.host}:${address.port}` },
    v2: { ...address },
    v3: { address: { ...address } },
  }
  return { ...widget, apiVersion, spec: { ...shapes[apiVersion.split('/')[1] ?? ''], ...rest } }
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

/** The CustomResourceDefinition of widgets. Without clientConfig its conversion strategy is None. */
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
