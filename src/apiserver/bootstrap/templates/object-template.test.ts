import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromTemplate, templateOf } from './object-template.ts'

const [uid, newUid] = ['11111111-2222-4333-8444-555555555555', 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee']
const [time, now] = ['2026-01-02T03:04:05Z', '2026-11-29T00:00:00Z']

const object = (id: string, at: string): string =>
  JSON.stringify({
    kind: 'FlowSchema',
    metadata: {
      name: 'ü',
      uid: id,
      creationTimestamp: at,
      annotations: { text: `"uid":"${uid}","time":"${time}"`, time: 'later' },
      managedFields: [{ manager: 'a', time: at, fieldsV1: { 'f:spec': { 'f:time': {} } } }],
    },
    status: { conditions: [{ type: 'Dangling', lastTransitionTime: at }] },
  })

test('an object from a template has another UID and other times, and nothing else changes', () => {
  const value = Buffer.from(object(uid, time))
  const template = templateOf({ key: '/a', value })
  assert.equal(fromTemplate(template, newUid, now).toString(), object(newUid, now))
  assert.equal(value.toString(), object(uid, time))
})
