import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from './finding.ts'
import { diskFinding, kubectlFinding, nodeFinding, portFinding, proxyFinding, realNodeFinding } from './machine.ts'

const kubectl = (version: string): string => JSON.stringify({ clientVersion: { gitVersion: version } })
const severities = (...findings: readonly Finding[]) => findings.map(({ severity }) => severity)

test('old versions of Node are problems', () => {
  assert.deepEqual(severities(nodeFinding('24.1.0'), nodeFinding('20.19.0')), ['good', 'problem'])
})

test('kubectl may be one minor version older or newer', () => {
  assert.deepEqual(kubectlFinding(kubectl('v1.36.1')), { severity: 'good', text: 'kubectl 1.36.1' })
  assert.deepEqual(severities(kubectlFinding(kubectl('v1.35.0')), kubectlFinding(kubectl('v1.37.0-rc.1'))), [
    'good',
    'good',
  ])
  const { severity, text } = kubectlFinding(kubectl('v1.32.4-dispatcher'))
  assert.equal(severity, 'hint')
  assert.match(text, /^kubectl 1\.32\.4-dispatcher is 4 minor versions older than the API, 1\.36/)
  assert.match(kubectlFinding(kubectl('v1.38.0')).text, /2 minor versions newer/)
  assert.match(kubectlFinding(undefined).text, /not installed/)
  assert.match(kubectlFinding('{}').text, /does not report/)
})

test('a port of another program is a problem, and that of a cluster is none', () => {
  assert.deepEqual(severities(portFinding(6443, 'free'), portFinding(6443, 't8s'), portFinding(6443, 'other')), [
    'good',
    'good',
    'problem',
  ])
})

test('a proxy must not get requests to this machine', () => {
  const set = { HTTPS_PROXY: 'http://proxy:3128' }
  assert.equal(proxyFinding({}).severity, 'good')
  assert.equal(proxyFinding(set).next, 'export NO_PROXY=127.0.0.1,localhost')
  assert.equal(proxyFinding({ ...set, no_proxy: '.corp, localhost' }).next, 'export NO_PROXY=.corp,localhost,127.0.0.1')
  for (const excluded of ['localhost,127.0.0.1', '*', '127.0.0.0/8,localhost'])
    assert.equal(proxyFinding({ https_proxy: 'x', NO_PROXY: excluded }).severity, 'good', excluded)
})

test('free space', () => {
  const mib = 1024 * 1024
  assert.equal(diskFinding('/', 20_480 * mib).text, '/ has 20 GiB of free space')
  assert.deepEqual(severities(diskFinding('/', 500 * mib), diskFinding('/', 5 * mib)), ['hint', 'problem'])
})

test('an obstacle to a real node has its remedy', () => {
  const { text, next } = realNodeFinding({
    reason: 't8s runs without root',
    remedy: 'use sudo',
    flag: '--node-type=real',
  })
  assert.equal(text, 'nodes are simulated here, because t8s runs without root')
  assert.equal(next, 'use sudo, or use --node-type=real, for a node that runs containers')
  assert.equal(realNodeFinding(undefined).severity, 'good')
})
