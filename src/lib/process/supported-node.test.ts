import assert from 'node:assert/strict'
import { test } from 'node:test'
import packageJson from '../../../package.json' with { type: 'json' }
import { oldestNode, unsupportedNode } from './supported-node.ts'

test('versions of Node before the oldest one of package.json are refused in one sentence', () => {
  assert.equal(`>=${oldestNode}`, `${packageJson.engines.node}.0`)
  for (const version of ['22.12.0', '22.23.5', '23.0.0', '26.12.1', '100.0.0'])
    assert.equal(unsupportedNode('t8s', version), undefined, version)
  for (const version of ['18.0.0', '20.20.2', '22.0.0', '22.11.0', '9.9.9'])
    assert.equal(
      unsupportedNode('t8s', version),
      `t8s needs Node 22.12.0 or newer, but this is Node ${version}: install a newer one (https://nodejs.org) and ` +
        'try again',
    )
})
