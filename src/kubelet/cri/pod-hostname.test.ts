import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kernelHostname, podHostname } from './pod-hostname.ts'

const domain = 'cluster.local'

const podOf = (spec: object, name = 'web') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop' },
  spec: { containers: [], ...spec },
})

test('a pod has its own name, or that of its fields, with the domain of its subdomain', () => {
  assert.deepEqual(podHostname(podOf({}), domain), { name: 'web', domain: '' })
  const named = podOf({ hostname: 'a', subdomain: 'sub' })
  assert.deepEqual(podHostname(named, 'corp.example'), { name: 'a', domain: 'sub.shop.svc.corp.example' })
  assert.equal(kernelHostname(named, domain), 'a')
  assert.equal(
    kernelHostname(podOf({ subdomain: 'sub', setHostnameAsFQDN: true }), domain),
    'web.sub.shop.svc.cluster.local',
  )
})

test('an override has no domain, whatever the other fields say', () => {
  const pod = podOf({ hostnameOverride: 'db.example.com', hostname: 'a', subdomain: 'sub' })
  assert.deepEqual(podHostname(pod, domain), { name: 'db.example.com', domain: '' })
  assert.equal(kernelHostname(pod, domain), 'db.example.com')
})

test('a long name is cut, and a full name that is too long is an error', () => {
  assert.equal(podHostname(podOf({}, `${'a'.repeat(61)}-.b`), domain).name, 'a'.repeat(61))
  const pod = podOf({ subdomain: 'sub', setHostnameAsFQDN: true }, 'a'.repeat(50))
  assert.throws(() => kernelHostname(pod, domain), /is too long \(64 characters is the max, 77 characters requested\)/)
})
