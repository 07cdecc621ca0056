/** The documents of the extension server: discovery in both forms, OpenAPI in both versions. */

const group = 'orchard.example.com'
const kind = { group, version: 'v1', kind: 'Apple' }
const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']

export const aggregated = {
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: [
    {
      metadata: { name: group },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'apples',
              responseKind: kind,
              scope: 'Namespaced',
              singularResource: 'apple',
              verbs,
              shortNames: ['ap'],
              categories: ['fruit'],
            },
          ],
        },
      ],
    },
  ],
}

const groupVersion = { groupVersion: `${group}/v1`, version: 'v1' }

export const groupDocument = {
  kind: 'APIGroup',
  apiVersion: 'v1',
  name: group,
  versions: [groupVersion],
  preferredVersion: groupVersion,
}

export const legacy = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${group}/v1`,
  resources: [
    {
      name: 'apples',
      singularName: 'apple',
      namespaced: true,
      kind: 'Apple',
      verbs,
      shortNames: ['ap'],
      categories: ['fruit'],
    },
  ],
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
const definitionName = 'com.example.orchard.v1.Apple'

const appleSchema = (reference: string) => ({
  type: 'object',
  description: 'An Apple hangs in an orchard.',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { $ref: `${reference}${meta}` },
    spec: {
      type: 'object',
      description: 'What the apple is like.',
      properties: { colour: { type: 'string', description: 'Red, mostly.' } },
    },
  },
  'x-kubernetes-group-version-kind': [kind],
})

const metaSchema = { type: 'object', description: 'Of another release.', properties: { name: { type: 'string' } } }

const operation = (verb: string) => ({
  operationId: `${verb}OrchardV1Apple`,
  'x-kubernetes-action': verb,
  'x-kubernetes-group-version-kind': kind,
})

export const openapiV2 = {
  swagger: '2.0',
  info: { title: 'orchard', version: '1' },
  paths: {
    [`/apis/${group}/v1/namespaces/{namespace}/apples`]: {
      post: {
        ...operation('post'),
        parameters: [{ name: 'body', in: 'body', schema: { $ref: `#/definitions/${definitionName}` } }],
        responses: {},
      },
    },
    '/apis/apps/v1/deployments': { get: { operationId: 'notOurs', responses: {} } },
  },
  definitions: { [definitionName]: appleSchema('#/definitions/'), [meta]: metaSchema },
}

export const v3Index = {
  paths: {
    [`apis/${group}/v1`]: { serverRelativeURL: `/openapi/v3/apis/${group}/v1?hash=A1` },
    'apis/apps/v1': { serverRelativeURL: '/x' },
  },
}

export const openapiV3 = {
  openapi: '3.0.0',
  info: { title: 'orchard', version: '1' },
  paths: {
    [`/apis/${group}/v1/namespaces/{namespace}/apples`]: {
      post: {
        ...operation('post'),
        parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
        requestBody: { content: { '*/*': { schema: { $ref: `#/components/schemas/${definitionName}` } } } },
        responses: {},
      },
    },
  },
  components: { schemas: { [definitionName]: appleSchema('#/components/schemas/'), [meta]: metaSchema } },
}
