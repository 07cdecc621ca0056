import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodSpec } from '../model.ts'
import { container, withDefaults } from '../pod.fixture.ts'
import { qosClass } from '../resources/qos.ts'
import { podTemplateDefaults } from './pod-defaults.ts'

test('a pod gets the defaults of upstream', () => {
  const { spec } = withDefaults({ containers: [{ name: 'c', image: 'nginx' }] })
  assert.deepEqual(spec, {
    containers: [
      {
        image: 'nginx',
        imagePullPolicy: 'Always',
        name: 'c',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  })
  const template = { spec: { containers: [] } }
  podTemplateDefaults(template)
  assert.equal('enableServiceLinks' in template.spec, false)
  const probes = withDefaults({
    containers: [
      container({ livenessProbe: { httpGet: { port: 80 } }, readinessProbe: { grpc: { port: 9 }, periodSeconds: 3 } }),
    ],
  }).spec?.containers[0]
  assert.deepEqual(probes?.livenessProbe, {
    failureThreshold: 3,
    httpGet: { path: '/', port: 80, scheme: 'HTTP' },
    periodSeconds: 10,
    successThreshold: 1,
    timeoutSeconds: 1,
  })
  assert.deepEqual(probes?.readinessProbe, {
    failureThreshold: 3,
    grpc: { port: 9, service: '' },
    periodSeconds: 3,
    successThreshold: 1,
    timeoutSeconds: 1,
  })
  const host = withDefaults({ hostNetwork: true, containers: [container({ ports: [{ containerPort: 80 }] })] }).spec
    ?.containers[0]?.ports
  assert.deepEqual(host, [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }])
})

test('volumes get the defaults of their type', () => {
  const volumes = withDefaults({
    volumes: [
      { name: 'v' },
      { name: 's', secret: { secretName: 'x' } },
      { name: 'h', hostPath: { path: '/x' } },
      {
        name: 'p',
        projected: {
          sources: [
            { serviceAccountToken: { path: 't' } },
            { downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
          ],
        },
      },
      { name: 'e', ephemeral: { volumeClaimTemplate: { spec: {} } } },
    ],
  }).spec?.volumes
  assert.deepEqual(volumes, [
    { name: 'v', emptyDir: {} },
    { name: 's', secret: { secretName: 'x', defaultMode: 420 } },
    { name: 'h', hostPath: { path: '/x', type: '' } },
    {
      name: 'p',
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
          { downwardAPI: { items: [{ path: 'n', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] } },
        ],
      },
    },
    {
      name: 'e',
      ephemeral: { volumeClaimTemplate: { metadata: {}, spec: { resources: {}, volumeMode: 'Filesystem' } } },
    },
  ])
})

test('requests default to limits, and both determine the QoS class', () => {
  const of = (...list: object[]): [string, object | undefined] => {
    const { spec } = withDefaults({ containers: list.map((resources, i) => container({ name: `c${i}`, resources })) })
    return [qosClass(spec as PodSpec), spec?.containers[0]?.resources]
  }
  assert.deepEqual(of({ limits: { cpu: '0.5', memory: '1024Ki' } }), [
    'Guaranteed',
    { limits: { cpu: '500m', memory: '1Mi' }, requests: { cpu: '500m', memory: '1Mi' } },
  ])
  assert.deepEqual(of({ requests: { memory: '1e6', cpu: '1u' } }), [
    'Burstable',
    { requests: { cpu: '1m', memory: '1e6' } },
  ])
  assert.deepEqual(of({ limits: { cpu: '1', memory: '1Gi' } }, {})[0], 'Burstable')
  assert.deepEqual(of({ requests: { cpu: '0', memory: '0' } })[0], 'BestEffort')
  assert.deepEqual(of({ requests: { 'ephemeral-storage': '1G' } })[0], 'BestEffort')
  assert.deepEqual(
    of({ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } })[0],
    'Guaranteed',
  )
})
