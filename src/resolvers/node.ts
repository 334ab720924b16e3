import { Field, ID, InterfaceType } from 'type-graphql';

@InterfaceType({ description: 'Anything with an id of its own.' })
export abstract class Node {
  @Field(() => ID, {
    description:
      'A prefix that says the kind and a sortable body, as `gen_01h455vb4pex5vsknk084sn02q`. Opaque.',
  })
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }
}
