import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameTemplate, templateHash } from './template-hash.ts'

const template = {
  metadata: { labels: { app: 'web', tier: 'front' } },
  spec: { containers: [{ name: 'c', image: 'app:1' }] },
}

test('the hash of a template is stable, as names of ReplicaSets contain it', () => {
  assert.equal(templateHash(template, undefined), '69d9957f65')
  assert.equal(templateHash(template, 1), '79884c786f')
})

test('the hash ignores the order of members and uses safe letters', () => {
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

test('templates that differ only in the hash label are the same', () => {
  const hashed = { ...template, metadata: { labels: { ...template.metadata.labels, 'pod-template-hash': 'x' } } }
  assert.equal(isSameTemplate(hashed, template), true)
  assert.equal(isSameTemplate({ ...hashed, metadata: { ...hashed.metadata, annotations: {} } }, template), true)
  assert.equal(
    isSameTemplate({ ...hashed, metadata: { ...hashed.metadata, annotations: { a: 'b' } } }, template),
    false,
  )
})
