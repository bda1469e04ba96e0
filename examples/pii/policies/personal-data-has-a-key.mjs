// What `when` and `require` can't say: two columns of one table that depend on each other. A policy gets data, a copy of its own, and returns findings.

const isPersonal = (name) => /email|phone/iu.test(name);

/** A table with personal data needs a primary key: without one, nobody can delete a person's rows from the warehouse. */
export default ({ schemas }) =>
  Object.entries(schemas).flatMap(([schema, { tables }]) =>
    Object.entries(tables)
      .filter(([, { enabled, columns = {} }]) => {
        const all = Object.entries(columns);
        return enabled && all.some(([name]) => isPersonal(name)) && !all.some(([, { isPrimaryKey }]) => isPrimaryKey);
      })
      .map(([table]) => ({
        path: `/schemas/${schema}/tables/${table}`,
        message: `${schema}.${table} holds personal data and has no primary key`,
      })),
  );
