import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { kubeconfigFor, kubeconfigYaml } from './kubeconfig.ts'

const config = kubeconfigFor('t8s', { url: 'https://127.0.0.1:6443', ca: 'CA', cert: 'CERT', key: 'KEY' })

test('kubeconfigYaml writes the same document as the object', () => {
  assert.deepEqual(parse(kubeconfigYaml(config)), config)
  const odd = kubeconfigFor('no: "quotes"', { url: 'https://[::1]:6443', ca: '', cert: 'a', key: 'b' })
  assert.deepEqual(parse(kubeconfigYaml(odd)), odd)
  const word = kubeconfigFor('true', { url: 'https://x', ca: 'a', cert: 'a', key: 'b' })
  assert.deepEqual(parse(kubeconfigYaml(word)), word)
})
