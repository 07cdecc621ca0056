import assert from 'node:assert/strict'
import test from 'node:test'
import {
  flag,
  jsonName,
  labelSelector,
  list,
  map,
  number,
  objectMeta,
  optional,
  pointer,
  struct,
  text,
} from './internal-type.ts'

test('values of internal types have all of Go’s fields, with Go’s names and in their order', () => {
  const inner = { Name: text }
  const show = struct({
    APIGroup: text,
    Count: number,
    On: flag,
    Amount: optional,
    Labels: map,
    Own: struct(inner),
    Other: pointer(inner),
    All: list(inner),
  })
  assert.equal(
    JSON.stringify(show({ labels: { b: '1', a: '2' }, other: { name: 'x' }, apiGroup: 'g', all: [{}] })),
    '{"APIGroup":"g","Count":0,"On":false,"Amount":null,"Labels":{"a":"2","b":"1"},"Own":{"Name":""},' +
      '"Other":{"Name":"x"},"All":[{"Name":""}]}',
  )
  assert.equal(
    JSON.stringify(show(undefined)),
    '{"APIGroup":"","Count":0,"On":false,"Amount":null,"Labels":null,"Own":{"Name":""},"Other":null,"All":null}',
  )
})

test('JSON names of Go’s fields lower their leading initialisms', () => {
  const names = {
    APIGroup: 'apiGroup',
    UID: 'uid',
    CIDRs: 'cidrs',
    SELinuxOptions: 'seLinuxOptions',
    NodeID: 'nodeID',
    NonResourceURLs: 'nonResourceURLs',
  }
  for (const [name, json] of Object.entries(names)) assert.equal(jsonName(name), json)
})

test('types of meta/v1 have their JSON names, in the order of Go’s fields', () => {
  const selector = { matchExpressions: [{ operator: 'Exists', key: 'k' }], matchLabels: { b: '1', a: '2' } }
  assert.equal(
    JSON.stringify(labelSelector(selector)),
    '{"matchLabels":{"a":"2","b":"1"},"matchExpressions":[{"key":"k","operator":"Exists"}]}',
  )
  assert.equal(JSON.stringify(labelSelector({ matchLabels: {} })), '{}')
  assert.equal(labelSelector(undefined), null)
  assert.equal(
    JSON.stringify(objectMeta({ uid: 'u', labels: { b: '', a: '' }, name: 'n' })),
    '{"name":"n","uid":"u","labels":{"a":"","b":""}}',
  )
})
