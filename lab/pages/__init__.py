"""Scripts behind the documentation: tables, badges, licences, gallery, notebooks and the site."""
