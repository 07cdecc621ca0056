/**
 * A valid object of each important kind. Mutations of these get further into the server than those of random objects.
 */
type Sample = Record<string, unknown> & { readonly apiVersion: string; readonly kind: string }

const sample = (apiVersion: string, kind: string, rest: object = {}): Sample => ({
  apiVersion,
  kind,
  metadata: { name: 'a', labels: { app: 'a' } },
  ...rest,
})

const podSpec = {
  containers: [
    {
      name: 'c',
      image: 'nginx:1',
      ports: [{ containerPort: 80, name: 'http' }],
      env: [{ name: 'A', value: '1' }],
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } },
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
      livenessProbe: { httpGet: { port: 'http', path: '/' } },
    },
  ],
  initContainers: [{ name: 'i', image: 'i' }],
  volumes: [{ name: 'v', emptyDir: {} }],
  tolerations: [{ key: 'k', operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }],
      },
    },
  },
  securityContext: { runAsUser: 1, fsGroup: 1 },
}
const template = { metadata: { labels: { app: 'a' } }, spec: podSpec }
const selector = { matchLabels: { app: 'a' } }
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
const subjects = [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }]
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const jobTemplate = { template: { spec: { ...podSpec, restartPolicy: 'Never' } }, backoffLimit: 3, completions: 2 }

export const samples: readonly Sample[] = [
  sample('v1', 'Pod', { spec: podSpec }),
  sample('v1', 'ConfigMap', { data: { a: 'b' }, binaryData: { c: 'YQ==' } }),
  sample('v1', 'Secret', { stringData: { a: 'b' }, type: 'Opaque' }),
  sample('v1', 'Service', {
    spec: { selector: { app: 'a' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  }),
  sample('v1', 'ServiceAccount'),
  sample('v1', 'Node', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] }, status: { capacity: { cpu: '1' } } }),
  sample('v1', 'PersistentVolumeClaim', { spec: claim }),
  sample('v1', 'PersistentVolume', {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  }),
  sample('v1', 'ResourceQuota', { spec: { hard: { pods: '1', 'requests.cpu': '1' } } }),
  sample('v1', 'LimitRange', {
    spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' }, default: { cpu: '2' } }] },
  }),
  sample('v1', 'ReplicationController', { spec: { replicas: 1, selector: { app: 'a' }, template } }),
  sample('v1', 'Endpoints', { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }),
  sample('v1', 'Event', {
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
    reason: 'R',
    message: 'm',
    type: 'Normal',
  }),
  sample('apps/v1', 'Deployment', { spec: { replicas: 1, selector, template, strategy: { type: 'RollingUpdate' } } }),
  sample('apps/v1', 'ReplicaSet', { spec: { replicas: 1, selector, template } }),
  sample('apps/v1', 'StatefulSet', {
    spec: { serviceName: 's', selector, template, volumeClaimTemplates: [{ metadata: { name: 'w' }, spec: claim }] },
  }),
  sample('apps/v1', 'DaemonSet', { spec: { selector, template } }),
  sample('apps/v1', 'ControllerRevision', { revision: 1, data: { a: 1 } }),
  sample('batch/v1', 'Job', { spec: jobTemplate }),
  sample('batch/v1', 'CronJob', { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: jobTemplate } } }),
  sample('networking.k8s.io/v1', 'Ingress', {
    spec: {
      rules: [
        {
          host: 'a.example',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        },
      ],
    },
  }),
  sample('networking.k8s.io/v1', 'NetworkPolicy', {
    spec: {
      podSelector: {},
      ingress: [
        { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }], ports: [{ port: 80, endPort: 90 }] },
      ],
    },
  }),
  sample('policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: '50%', selector } }),
  sample('autoscaling/v2', 'HorizontalPodAutoscaler', {
    spec: {
      minReplicas: 1,
      maxReplicas: 3,
      scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  }),
  sample('autoscaling/v1', 'HorizontalPodAutoscaler', {
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' } },
  }),
  sample('rbac.authorization.k8s.io/v1', 'Role', { rules }),
  sample('rbac.authorization.k8s.io/v1', 'ClusterRole', {
    rules,
    aggregationRule: { clusterRoleSelectors: [selector] },
  }),
  sample('rbac.authorization.k8s.io/v1', 'RoleBinding', {
    subjects,
    roleRef: { kind: 'Role', name: 'a', apiGroup: 'rbac.authorization.k8s.io' },
  }),
  sample('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', {
    subjects,
    roleRef: { kind: 'ClusterRole', name: 'a', apiGroup: 'rbac.authorization.k8s.io' },
  }),
  sample('storage.k8s.io/v1', 'StorageClass', { provisioner: 'p.example', parameters: { a: 'b' } }),
  sample('coordination.k8s.io/v1', 'Lease', {
    spec: { holderIdentity: 'h', leaseDurationSeconds: 10, renewTime: '2024-01-01T00:00:00.000000Z' },
  }),
  sample('discovery.k8s.io/v1', 'EndpointSlice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [{ port: 80, name: '' }],
  }),
  sample('scheduling.k8s.io/v1', 'PriorityClass', { value: 10 }),
  sample('node.k8s.io/v1', 'RuntimeClass', { handler: 'h', overhead: { podFixed: { cpu: '1m' } } }),
  sample('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    n: { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 0' }] },
                  },
                },
              },
            },
          },
        },
      ],
    },
  }),
  sample('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {
    webhooks: [
      {
        name: 'w.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/x' },
        failurePolicy: 'Ignore',
        rules: [{ apiGroups: ['none.example'], apiVersions: ['*'], resources: ['x'], operations: ['CREATE'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }),
  sample('apiregistration.k8s.io/v1', 'APIService', {
    metadata: { name: 'v1.none.example' },
    spec: {
      group: 'none.example',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      service: { name: 's', namespace: 'default' },
    },
  }),
  sample('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', {
    spec: {
      priorityLevelConfiguration: { name: 'exempt' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'u' } }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    },
  }),
  sample('certificates.k8s.io/v1', 'CertificateSigningRequest', {
    spec: { request: 'LS0tLS1CRUdJTg==', signerName: 'example.com/s', usages: ['client auth'] },
  }),
]
