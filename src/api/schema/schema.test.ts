import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '../../machinery/decode/index.ts'
import type { Field } from '../../machinery/schema.ts'
import { definitionName, descriptionsOf, schemaOf, schemaType } from './index.ts'
import { modelNames } from './loader.ts'

const field = (model: string, name: string): Field =>
  schemaType(model).fields.get(name) ?? assert.fail(`${model} has no ${name}`)

test('every field of every model has a known type', () => {
  const names = modelNames()
  assert.ok(names.length > 600)
  for (const name of names)
    for (const [key, { type }] of schemaType(name).fields) assert.ok(type.kind, `${name}.${key}`)
})

test('schemas are found by group, version and kind, also if the model has a prefix', () => {
  assert.equal(
    schemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' })?.definition,
    'io.k8s.api.apps.v1.Deployment',
  )
  assert.equal(schemaOf({ group: '', version: 'v1', kind: 'Event' }), schemaType('CoreV1Event'))
  assert.equal(schemaOf({ group: 'events.k8s.io', version: 'v1', kind: 'Event' }), schemaType('EventsV1Event'))
  assert.equal(
    schemaOf({ group: 'resource.k8s.io', version: 'v1', kind: 'ResourceClaim' }),
    schemaType('ResourceV1ResourceClaim'),
  )
  assert.equal(schemaOf({ group: 'example.com', version: 'v1', kind: 'Deployment' }), undefined)
  assert.equal(
    definitionName('apiregistration.k8s.io', 'v1', 'APIService'),
    'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
  )
  assert.deepEqual(schemaType('V1ClusterRole').groupVersionKinds, [
    { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', version: 'v1' },
  ])
  assert.deepEqual(schemaType('V1PodSpec').groupVersionKinds, [])
})

test('types are shared instances, so that schemas can be recursive', () => {
  const { type } = field('V1JSONSchemaProps', 'not')
  assert.equal(type, schemaType('V1JSONSchemaProps'))
})

test('fields have patch strategies and list types', () => {
  const { patchStrategy, patchMergeKey, listType, listMapKeys } = field('V1Container', 'ports')
  assert.deepEqual(
    { patchStrategy, patchMergeKey, listType, listMapKeys },
    {
      patchStrategy: ['merge'],
      patchMergeKey: 'containerPort',
      listType: 'map',
      listMapKeys: ['containerPort', 'protocol'],
    },
  )
  assert.deepEqual(field('V1PodSpec', 'volumes').patchStrategy, ['merge', 'retainKeys'])
  assert.equal(field('V1ContainerPort', 'protocol').default, 'TCP')
  assert.equal(field('V1PodSpec', 'nodeSelector').mapType, 'atomic')
  assert.equal(schemaType('V1LabelSelector').atomic, true)
  assert.deepEqual(field('V1PodStatus', 'conditions').listMapKeys, ['type'])
})

test('fields that are pointers in Go keep empty values', () => {
  for (const [model, name] of [
    ['V1DeploymentSpec', 'replicas'],
    ['V1PodSpec', 'automountServiceAccountToken'],
    ['V1PersistentVolumeClaimSpec', 'storageClassName'],
    ['V1IngressSpec', 'ingressClassName'],
    ['V1SecurityContext', 'runAsUser'],
    ['V1JobSpec', 'suspend'],
    ['V1ConfigMap', 'immutable'],
    ['V1ConfigMapVolumeSource', 'defaultMode'],
    ['V1OwnerReference', 'controller'],
    // Not a pointer, but a list that is meaningful when empty.
    ['V2HPAScalingRules', 'policies'],
  ] as const)
    assert.equal(field(model, name).keepsEmpty, true, `${model}.${name}`)
  for (const [model, name] of [
    ['V1PodSpec', 'hostNetwork'],
    ['V1Container', 'command'],
    ['V1ObjectMeta', 'labels'],
    ['V1DeploymentSpec', 'paused'],
    ['V1ContainerPort', 'hostPort'],
  ] as const)
    assert.equal(field(model, name).keepsEmpty, false, `${model}.${name}`)
})

test('objects are encoded as by Go', () => {
  assert.deepEqual(
    decode(schemaType('V1Deployment'), {
      spec: {
        replicas: 0,
        template: {
          spec: {
            containers: [{ name: 'c', resources: {}, command: [], tty: false }],
            securityContext: {},
            volumes: [{ name: 'v', emptyDir: {} }],
          },
        },
      },
    }).object,
    {
      metadata: {},
      spec: {
        replicas: 0,
        strategy: {},
        template: {
          metadata: {},
          spec: {
            containers: [{ name: 'c', resources: {} }],
            securityContext: {},
            volumes: [{ emptyDir: {}, name: 'v' }],
          },
        },
      },
      status: {},
    },
  )
  assert.deepEqual(decode(schemaType('V1Role'), {}).object, { metadata: {}, rules: null })
  assert.deepEqual(decode(schemaType('V1DaemonSet'), {}).object.status, {
    currentNumberScheduled: 0,
    desiredNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
  })
  assert.deepEqual(decode(schemaType('V1Service'), { spec: { ports: [{ port: 80 }] } }).object.spec, {
    ports: [{ port: 80, targetPort: 0 }],
  })
  assert.deepEqual(decode(schemaType('CoreV1Event'), {}).object.eventTime, null)
})

test('decoding errors of pods and secrets have the messages of upstream', () => {
  const text =
    '{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replica":2,"template":{"spec":{' +
    '"containers":[{"name":"c","imagePullpolicy":"Always","resources":{"limit":{}}}]}}}}'
  assert.deepEqual(decode(schemaType('V1Deployment'), text).unknown, [
    'spec.replica',
    'spec.template.spec.containers[0].imagePullpolicy',
    'spec.template.spec.containers[0].resources.limit',
  ])
  assert.throws(() => decode(schemaType('V1Pod'), { spec: { restartPolicy: 1 } }), {
    message: 'json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy',
  })
  assert.throws(() => decode(schemaType('V1Secret'), { data: { a: 1 } }), {
    message: 'json: cannot unmarshal number into Go struct field Secret.data of type []uint8',
  })
})

test('types and fields have descriptions', () => {
  assert.match(descriptionsOf('V1PodSpec')[''] ?? '', /description of a pod/)
  assert.match(descriptionsOf('V1JSONSchemaProps')['x-kubernetes-validations'] ?? '', /CEL/)
})

test('list types, enums and unions match 1.36', () => {
  assert.equal(field('V1PersistentVolumeSpec', 'claimRef').mapType, 'granular')
  assert.deepEqual(field('V1ResourceStatus', 'resources').listMapKeys, ['resourceID'])
  assert.deepEqual(field('V1HostPathVolumeSource', 'type').enum?.slice(0, 2), ['', 'BlockDevice'])
  assert.ok(field('V1CertificateSigningRequestSpec', 'usages').enum?.includes('digital signature'))
  assert.equal(field('V1LocalObjectReference', 'name').default, '')
  assert.equal(schemaType('V1MatchResources').atomic, true)
  assert.deepEqual(schemaType('V1SeccompProfile').union, { discriminator: 'type', fields: ['localhostProfile'] })
  assert.deepEqual(schemaType('V1PodSchedulingGroup').union, { fields: ['podGroupName'] })
})
