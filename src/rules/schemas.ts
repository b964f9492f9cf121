/** Parts of schemas. */
import { type SchemaOptions, type TSchema, Type } from '@sinclair/typebox'

export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const oneOf = <Value extends string>(values: readonly Value[], options: SchemaOptions = {}) =>
  Type.Unsafe<Value>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  )

export const uuid = Type.String({ format: 'uuid' })

export const dateTime = Type.String({ format: 'date-time' })

/** For an object with no other fields. */
export const closed = { additionalProperties: false }
