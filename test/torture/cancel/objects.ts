/** The initial objects of a cancel storm: those that direct the server to the backend, and the targets of requests. */
import { widgetDefinition } from '../../conversion/widgets.ts'
import type { Backend } from './backend.ts'
import { stormGroup } from './backend-answers.ts'

export const namespace = 'storm'
export const core = `/api/v1/namespaces/${namespace}`

interface StormObject {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  readonly body: object
}

const post = (path: string, body: object): StormObject => ({ method: 'POST', path, body })

/** In creation order. `address` is that of endpoints and pods. */
export function stormObjects(backend: Backend, address: string): readonly StormObject[] {
  return [
    post('/api/v1/namespaces', { metadata: { name: namespace, labels: { storm: 'yes' } } }),
    post('/api/v1/nodes', { metadata: { name: 'storm-node' } }),
    {
      method: 'PATCH',
      path: '/api/v1/nodes/storm-node/status',
      body: {
        status: {
          addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
          daemonEndpoints: { kubeletEndpoint: { Port: backend.port } },
        },
      },
    },
    post(
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      widgetDefinition({ clientConfig: clientConfig(backend, 'convert') }),
    ),
    ...podAndServices(backend, address),
    ...aggregatedApi(backend),
    ...webhooks(backend),
  ]
}

const clientConfig = ({ port, ca }: Backend, path: string): object => ({
  url: `https://127.0.0.1:${port}/${path}`,
  caBundle: Buffer.from(ca).toString('base64'),
})

function podAndServices({ port }: Backend, address: string): readonly StormObject[] {
  const container = { name: 'main', image: 'main', ports: [{ containerPort: port }] }
  const spec = { nodeName: 'storm-node', tolerations: [{ operator: 'Exists' }], containers: [container] }
  const running = { name: 'main', image: 'main', imageID: 'main', ready: true, restartCount: 0, state: { running: {} } }
  return [
    post(`${core}/serviceaccounts`, { metadata: { name: 'default' } }),
    post(`${core}/pods`, { metadata: { name: 'pod' }, spec }),
    {
      method: 'PATCH',
      path: `${core}/pods/pod/status`,
      body: { status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }], containerStatuses: [running] } },
    },
    post(`${core}/services`, { metadata: { name: 'backend' }, spec: { ports: [{ name: 'https', port: 443 }] } }),
    post(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      metadata: { name: 'backend-1', labels: { 'kubernetes.io/service-name': 'backend' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], targetRef: { kind: 'Pod', namespace, name: 'pod' } }],
      ports: [{ name: 'https', port }],
    }),
  ]
}

function aggregatedApi({ port, ca }: Backend): readonly StormObject[] {
  return [
    post(`${core}/services`, {
      metadata: { name: 'apples' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    }),
    post('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: `v1.${stormGroup}` },
      spec: {
        group: stormGroup,
        version: 'v1',
        groupPriorityMinimum: 1500,
        versionPriority: 15,
        service: { namespace, name: 'apples', port },
        caBundle: Buffer.from(ca).toString('base64'),
      },
    }),
  ]
}

/** Two webhooks of each kind, so that one may fail while the other runs; one of each through a Service. */
function webhooks(backend: Backend): readonly StormObject[] {
  const hook = (name: string, path: string, more: object): object => ({
    name: `${name}.${stormGroup}`,
    clientConfig: clientConfig(backend, path),
    rules: [
      {
        apiGroups: ['*'],
        apiVersions: ['*'],
        operations: ['*'],
        resources: ['configmaps', 'pods', 'widgets', 'pods/exec'],
      },
    ],
    namespaceSelector: { matchLabels: { storm: 'yes' } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 1,
    ...more,
  })
  const byService = {
    clientConfig: {
      service: { namespace, name: 'backend', path: '/validate', port: 443 },
      caBundle: Buffer.from(backend.ca).toString('base64'),
    },
  }
  const configuration = (kind: 'Mutating' | 'Validating', hooks: readonly object[]): StormObject =>
    post(`/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`, {
      metadata: { name: 'storm' },
      webhooks: hooks,
    })
  return [
    configuration('Mutating', [
      hook('first', 'mutate', { failurePolicy: 'Ignore', reinvocationPolicy: 'IfNeeded' }),
      hook('second', 'mutate', { failurePolicy: 'Fail', timeoutSeconds: 2 }),
    ]),
    configuration('Validating', [
      hook('third', 'validate', { failurePolicy: 'Fail' }),
      hook('fourth', 'validate', { failurePolicy: 'Fail', timeoutSeconds: 2 }),
      hook('fifth', 'validate', { failurePolicy: 'Ignore', ...byService }),
    ]),
  ]
}
