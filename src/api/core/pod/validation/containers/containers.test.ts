import assert from 'node:assert/strict'
import test from 'node:test'
import { container, oneContainer, validationErrors } from '../pod-rules.fixture.ts'

test('a container may use only claims of its pod', () => {
  assert.deepEqual(
    validationErrors({
      resourceClaims: [{ name: 'a' }, { name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }],
    }),
    [
      'resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: ' +
        'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      'resourceClaims[1].name: Duplicate value: "a"',
      'resourceClaims[1]: Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: ' +
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    ],
  )
  assert.deepEqual(oneContainer({ resources: { claims: [{ name: 'q' }] } }), [
    'resources.claims[0]: Not found: "q": must be one of the names in pod.spec.resourceClaims which is empty',
  ])
  const using = (...claims: object[]): string[] =>
    validationErrors({
      resourceClaims: [{ name: 'a', resourceClaimName: 'x' }],
      containers: [container({ resources: { claims } })],
    })
  assert.deepEqual(using({ name: 'a', request: 'r' }, { name: 'a', request: 's' }), [])
  assert.deepEqual(using({ name: 'a', request: 'r' }, { name: 'a' }), [
    'containers[0].resources.claims[1]: Duplicate value: "a"',
  ])
  assert.deepEqual(using({ name: 'a', request: 'r' }, { name: 'a', request: 'r' }), [
    'containers[0].resources.claims[1]: Duplicate value: "a/r"',
  ])
})

test('restart policies and restart rules are validated', () => {
  assert.deepEqual(oneContainer({ restartPolicy: 'Foo', restartPolicyRules: [{ action: 'Foo' }] }), [
    'restartPolicy: Unsupported value: "Foo": supported values: "Always", "Never", "OnFailure"',
    'restartPolicyRules[0].action: Unsupported value: "Foo": supported values: "Restart", "RestartAllContainers"',
    'restartPolicyRules[0].exitCodes: Required value: must be specified',
  ])
  assert.deepEqual(
    oneContainer({ restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }),
    ['restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
  )
  assert.deepEqual(oneContainer({ resizePolicy: [{ resourceName: 'disk', restartPolicy: 'NotRequired' }] }), [
    'resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"',
  ])
  assert.deepEqual(
    validationErrors({
      restartPolicy: 'Never',
      containers: [container({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })],
    }),
    [
      'containers[0].resizePolicy: Invalid value: "RestartContainer": must be \'NotRequired\' when pod ' +
        "`restartPolicy` is 'Never'",
    ],
  )
})

test('environment variables refer to supported fields, resources and divisors', () => {
  const from = (valueFrom: object): string[] =>
    oneContainer({ env: [{ name: 'A', valueFrom }] }).map((line) => line.replace('env[0].valueFrom.', ''))
  assert.deepEqual(from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '1' } }), [])
  assert.deepEqual(from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '3' } }), [
    'resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with ' +
      'the cpu resource',
  ])
  assert.match(
    from({ resourceFieldRef: { resource: 'limits.memory', divisor: '2Mi' } })[0] ?? '',
    /1Ei are supported with the memory resource$/,
  )
  assert.deepEqual(from({ fieldRef: { fieldPath: "spec.nodeName['a']" } }), [
    'fieldRef.fieldPath: Invalid value: "spec.nodeName[\'a\']": error converting fieldPath: field label does not ' +
      "support subscript: spec.nodeName['a']",
  ])
  assert.deepEqual(from({ fieldRef: { fieldPath: 'spec.host' } }), [])
  assert.deepEqual(from({ fileKeyRef: { volumeName: '', path: '../x', key: '' } }), [
    'fileKeyRef.key: Required value',
    'fileKeyRef.volumeName: Required value',
    `fileKeyRef.path: Invalid value: "../x": must not contain '..'`,
    'fileKeyRef.volumeName: Not found: ""',
  ])
  const key = { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: '/x', key: 'K' } } }
  const inVolume = (source: object): string[] =>
    validationErrors({ volumes: [{ name: 'v', ...source }], containers: [container({ env: [key] })] })
  assert.deepEqual(inVolume({ emptyDir: {} }), [])
  assert.deepEqual(inVolume({ configMap: { name: 'm' } }), [
    'containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type ' +
      'emptyDir',
  ])
  assert.deepEqual(oneContainer({ envFrom: [{ secretRef: { name: 'a-' } }] }), [])
})

test('an init container cannot have the resize policy RestartContainer', () => {
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
  assert.deepEqual(validationErrors({ initContainers: [container({ name: 'i', resizePolicy })] }), [
    'initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to ' +
      "'RestartContainer' for non-sidecar initContainers",
  ])
  assert.deepEqual(
    validationErrors({ initContainers: [container({ name: 'i', restartPolicy: 'Always', resizePolicy })] }),
    [],
  )
})

test('stopSignal must be a signal of the operating system', () => {
  const signal = (stopSignal: string, os?: string): string[] =>
    validationErrors({ os: os && { name: os }, containers: [container({ lifecycle: { stopSignal } })] }).map((line) =>
      line.replace('containers[0].lifecycle.', ''),
    )
  assert.deepEqual(signal('SIGUSR1', 'linux'), [])
  assert.deepEqual(signal('SIGRTMIN+15', 'linux'), [])
  assert.deepEqual(signal('SIGTERM', 'windows'), [])
  assert.deepEqual(signal('SIGUSR1', 'windows'), [
    'stopSignal: Unsupported value: "SIGUSR1": supported values: "SIGKILL", "SIGTERM"',
  ])
  assert.match(
    signal('SIGNAL', 'linux')[0] ?? '',
    /^stopSignal: Unsupported value: "SIGNAL": supported values: "SIGABRT", /,
  )
  assert.deepEqual(signal('SIGTERM'), [
    'stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`',
  ])
})
