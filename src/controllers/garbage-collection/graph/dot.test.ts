import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dotOf } from './dot.ts'
import { ownedBy, recordingGraph } from './graph.fixture.ts'

test('dotOf draws connected objects, including unobserved owners', () => {
  const { graph, observe } = recordingGraph()
  observe('alone')
  observe('child', [ownedBy('unseen')])
  const dot = dotOf(graph)
  assert.match(dot, /^strict digraph full \{\n/)
  assert.match(dot, /\n {2}0 -> 1;\n\}$/)
  assert.match(dot, /label="uid=unseen\nnamespace=a\nConfigMap\.v1\/unseen\nvirtual\n"/)
  assert.match(dot, /virtual="true"/)
  assert.doesNotMatch(dot, /alone/)
})

test('dotOf with uids draws only their components, and escapes names', () => {
  const { graph, observe } = recordingGraph()
  observe('owner')
  observe('child', [ownedBy('owner')])
  observe('stranger', [ownedBy('x"]; y')])
  const dot = dotOf(graph, ['child'])
  assert.match(dot, /owner/)
  assert.doesNotMatch(dot, /stranger/)
  assert.match(dotOf(graph), /name="x\\"\]; y"/)
})
