import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sameTemplate, templateHash } from './template-hash.ts'

const template = {
  metadata: { labels: { app: 'web', tier: 'front' } },
  spec: { containers: [{ name: 'c', image: 'app:1' }] },
}

test('the hash of a template never changes: names of ReplicaSets are made of it', () => {
  assert.equal(templateHash(template, undefined), '69d9957f65')
  assert.equal(templateHash(template, 1), '79884c786f')
})

test('the hash does not depend on the order of members, and has letters that are safe in names', () => {
  const { spec, metadata } = template
  assert.equal(
    templateHash({ spec, metadata: { labels: { tier: 'front', app: metadata.labels.app } } }, undefined),
    templateHash(template, undefined),
  )
  for (let image = 0; image < 50; image++)
    assert.match(
      templateHash({ metadata, spec: { containers: [{ name: 'c', image: `app:${image}` }] } }, undefined),
      /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/,
    )
})

test('templates that differ in the hash alone are the same', () => {
  const hashed = { ...template, metadata: { labels: { ...template.metadata.labels, 'pod-template-hash': 'x' } } }
  assert.equal(sameTemplate(hashed, template), true)
  assert.equal(sameTemplate({ ...hashed, metadata: { ...hashed.metadata, annotations: {} } }, template), true)
  assert.equal(sameTemplate({ ...hashed, metadata: { ...hashed.metadata, annotations: { a: 'b' } } }, template), false)
})
